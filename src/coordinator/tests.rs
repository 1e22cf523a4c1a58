//! What concerns groups of every type: lists, descriptions of classic groups, deletion.

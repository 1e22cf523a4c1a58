//! Partition logs: segments of record batches as received, with their indexes.

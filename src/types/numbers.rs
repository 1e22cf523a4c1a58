//! Numbers that must not be mixed up.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! number {
    ($($(#[$doc:meta])* $name:ident($inner:ty)),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, out)
            }
        }
    )+};
}

number! {
    /// Log sequence number: the place of a change in the one order of all changes. The first is 1; 0 is "before all".
    Lsn(u64),
    /// Milliseconds since 1970-01-01 UTC.
    TimestampMs(i64),
    /// The place of a record in its partition.
    Offset(i64),
    /// A producer's id; -1 means none.
    ProducerId(i64),
    /// A producer's epoch; -1 means none.
    ProducerEpoch(i16),
}

impl Lsn {
    /// The next one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl TimestampMs {
    /// This moment plus `ms`, without overflow.
    #[must_use]
    pub const fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}

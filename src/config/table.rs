//! Writes a configuration table: a struct with a typed field for each key, its defaults, its rows, and the way from
//! text to field and back.

use std::collections::BTreeSet;

use super::key::{Kind, list_elements};

/// A field type that a table can have.
pub(super) trait Value: Sized {
    const KIND: Kind;
    /// Reads a text that [`Key::check`](super::Key::check) has accepted.
    fn read(text: &str) -> Option<Self>;
    /// The value of a key that has no default.
    fn unset() -> Option<Self> {
        None
    }
    /// The value as Kafka writes it; `None` if not set.
    fn write(&self) -> Option<String>;
}

macro_rules! numbers {
    ($($ty:ty => $kind:ident),+ $(,)?) => {$(
        impl Value for $ty {
            const KIND: Kind = Kind::$kind;
            fn read(text: &str) -> Option<Self> {
                text.trim().parse().ok()
            }
            fn write(&self) -> Option<String> {
                Some(self.to_string())
            }
        }
    )+};
}

numbers!(i16 => Short, i32 => Int, i64 => Long);

impl Value for f64 {
    const KIND: Kind = Kind::Double;
    fn read(text: &str) -> Option<Self> {
        text.trim().parse().ok()
    }
    fn write(&self) -> Option<String> {
        // Java writes 1.0, not 1. Its other form, for very large and very small numbers, no key of a table needs.
        Some(format!("{self:?}"))
    }
}

impl Value for bool {
    const KIND: Kind = Kind::Boolean;
    fn read(text: &str) -> Option<Self> {
        Some(text.trim().eq_ignore_ascii_case("true"))
    }
    fn write(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl Value for String {
    const KIND: Kind = Kind::String;
    fn read(text: &str) -> Option<Self> {
        Some(text.trim().to_owned())
    }
    fn write(&self) -> Option<String> {
        Some(self.clone())
    }
}

impl Value for Vec<String> {
    const KIND: Kind = Kind::List;
    fn read(text: &str) -> Option<Self> {
        let mut seen = BTreeSet::new();
        Some(list_elements(text).filter(|element| seen.insert(*element)).map(str::to_owned).collect())
    }
    fn write(&self) -> Option<String> {
        Some(self.join(","))
    }
}

impl<T: Value> Value for Option<T> {
    const KIND: Kind = T::KIND;
    fn read(text: &str) -> Option<Self> {
        T::read(text).map(Some)
    }
    fn unset() -> Option<Self> {
        Some(None)
    }
    fn write(&self) -> Option<String> {
        self.as_ref().and_then(T::write)
    }
}

/// Writes a table. A row is
/// `field: type = "name", default, bounds, dynamic;` with `unset` for no default and `fixed` for a key that only a
/// restart changes; behind that may stand `like "broker.key"` (where the value comes from if it is not set) and
/// `, internal` (left out of descriptions).
macro_rules! config_table {
    (
        $(#[$struct_doc:meta])*
        pub struct $table:ident, rows $rows:ident $(, also $also:ident: $also_type:ty)? {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $ty:ty = $name:literal, $default:tt, $bounds:expr, $update:ident
                    $(like $synonym:literal)? $(, $internal:ident)?;
            )+
        }
    ) => {
        $(#[$struct_doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $table {
            $($(#[doc = $doc])+ pub $field: $ty,)+
            $(pub(super) $also: $also_type,)?
        }

        /// The rows of the table, in order of field.
        pub const $rows: &[$crate::config::Key] = &[
            $($crate::config::Key {
                name: $name,
                kind: <$ty as $crate::config::table::Value>::KIND,
                default: $crate::config::table::config_table!(@default $default),
                bounds: $bounds,
                is_dynamic: $crate::config::table::config_table!(@$update),
                is_per_broker: false,
                is_internal: $crate::config::table::config_table!(@internal $($internal)?),
                synonym: $crate::config::table::config_table!(@synonym $($synonym)?),
                doc: concat!($($doc),+),
            },)+
        ];

        impl Default for $table {
            fn default() -> Self {
                Self {
                    $($field: $crate::config::table::config_table!(@value $default, $ty),)+
                    $($also: <$also_type>::default(),)?
                }
            }
        }

        impl $table {
            /// The row of this name.
            #[must_use]
            pub fn key(name: &str) -> Option<&'static $crate::config::Key> {
                $rows.iter().find(|key| key.name == name)
            }

            /// The value of a key as text: `None` if there is no such key, `Some(None)` if it is not set.
            #[must_use]
            pub fn text(&self, name: &str) -> Option<Option<String>> {
                match name {
                    $($name => Some($crate::config::table::Value::write(&self.$field)),)+
                    _ => None,
                }
            }

            /// Checks a text and reads it into its field. `None` if there is no such key.
            fn assign(&mut self, name: &str, value: &str) -> Option<Result<(), $crate::config::ConfigError>> {
                if let Err(error) = Self::key(name)?.check(value) {
                    return Some(Err(error));
                }
                match name {
                    $($name => {
                        if let Some(read) = <$ty as $crate::config::table::Value>::read(value) {
                            self.$field = read;
                        }
                    })+
                    _ => return None,
                }
                Some(Ok(()))
            }
        }
    };
    (@dynamic) => { true };
    (@fixed) => { false };
    (@internal) => { false };
    (@internal internal) => { true };
    (@synonym) => { None };
    (@synonym $synonym:literal) => { Some($synonym) };
    (@default unset) => { None };
    (@default $default:literal) => { Some($default) };
    (@value unset, $ty:ty) => {
        <$ty as $crate::config::table::Value>::unset().expect("only a key of an optional type is without default")
    };
    (@value $default:literal, $ty:ty) => {
        <$ty as $crate::config::table::Value>::read($default).expect("a table's defaults are of its types, tested below")
    };
}
pub(super) use config_table;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_kafka_writes_them() {
        assert_eq!(0.5f64.write().as_deref(), Some("0.5"));
        assert_eq!(1f64.write().as_deref(), Some("1.0"));
        assert_eq!(true.write().as_deref(), Some("true"));
        assert_eq!(Vec::<String>::read(" a , b,a").unwrap().write().as_deref(), Some("a,b"));
        assert_eq!(Option::<i64>::read(" 77 ").unwrap().write().as_deref(), Some("77"));
        assert_eq!(None::<i64>.write(), None);
    }
}

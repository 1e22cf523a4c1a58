//! One row of a configuration table, and how text becomes a value.

/// The type of a value, as DescribeConfigs names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Boolean,
    /// Text.
    String,
    /// A 32-bit integer.
    Int,
    /// A 64-bit integer.
    Long,
    /// A floating point number.
    Double,
    /// Texts, separated by commas.
    List,
}

impl Kind {
    /// The number of the type in DescribeConfigs answers.
    #[must_use]
    pub const fn code(self) -> i8 {
        match self {
            Self::Boolean => 1,
            Self::String => 2,
            Self::Int => 3,
            Self::Long => 5,
            Self::Double => 6,
            Self::List => 7,
        }
    }
}

/// What values a key takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bounds {
    /// Any value of the type.
    Any,
    /// At least this.
    AtLeast(i64),
    /// From the first to the second, inclusive.
    Between(i64, i64),
    /// A number from the first to the second, inclusive.
    BetweenDoubles(f64, f64),
    /// One of these; for a list, each element one of these.
    OneOf(&'static [&'static str]),
}

/// One row of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The name, as in Kafka where Kafka has it.
    pub name: &'static str,
    /// The type.
    pub kind: Kind,
    /// The default as text; `None` means "not set".
    pub default: Option<&'static str>,
    /// The values it takes.
    pub bounds: Bounds,
    /// Whether it can be changed while the server runs.
    pub is_dynamic: bool,
    /// What it does, units included.
    pub doc: &'static str,
}

/// Why a value is refused. The text names the key, the value, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Invalid value {value} for configuration {key}: {reason}")]
pub struct ConfigError {
    /// The key.
    pub key: String,
    /// The value as given.
    pub value: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Key {
    /// Checks a value's type and bounds.
    ///
    /// # Errors
    /// [`ConfigError`] in Kafka's words.
    pub fn check(&self, value: &str) -> Result<(), ConfigError> {
        self.reason_against(value)
            .map_or(Ok(()), |reason| Err(ConfigError { key: self.name.to_owned(), value: value.to_owned(), reason }))
    }

    fn reason_against(&self, value: &str) -> Option<String> {
        let text = value.trim();
        match self.kind {
            Kind::Boolean => (!text.eq_ignore_ascii_case("true") && !text.eq_ignore_ascii_case("false"))
                .then(|| "Expected value to be either true or false".to_owned()),
            Kind::Int => match text.parse::<i32>() {
                Ok(number) => self.reason_against_number(i64::from(number)),
                Err(_) => Some("Not a number of type INT".to_owned()),
            },
            Kind::Long => match text.parse::<i64>() {
                Ok(number) => self.reason_against_number(number),
                Err(_) => Some("Not a number of type LONG".to_owned()),
            },
            Kind::Double => match (text.parse::<f64>(), self.bounds) {
                (Ok(number), Bounds::BetweenDoubles(low, high)) if !(low..=high).contains(&number) => {
                    Some(format!("Value must be between {low} and {high}"))
                }
                (Ok(_), _) => None,
                (Err(_), _) => Some("Not a number of type DOUBLE".to_owned()),
            },
            Kind::String => self.reason_against_word(text),
            Kind::List => list_elements(text).find_map(|element| self.reason_against_word(element)),
        }
    }

    fn reason_against_number(&self, number: i64) -> Option<String> {
        match self.bounds {
            Bounds::AtLeast(low) | Bounds::Between(low, _) if number < low => {
                Some(format!("Value must be at least {low}"))
            }
            Bounds::Between(_, high) if number > high => Some(format!("Value must be no more than {high}")),
            _ => None,
        }
    }

    fn reason_against_word(&self, word: &str) -> Option<String> {
        match self.bounds {
            Bounds::OneOf(words) if !words.contains(&word) => {
                Some(format!("String must be one of: {}", words.join(", ")))
            }
            _ => None,
        }
    }
}

/// The elements of a list value; an empty text is an empty list.
pub(super) fn list_elements(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|element| !element.is_empty())
}

/// A field type that a table can have.
pub(super) trait Value: Sized {
    const KIND: Kind;
    /// Reads a text that [`Key::check`] has accepted.
    fn read(text: &str) -> Option<Self>;
}

macro_rules! parsed_values {
    ($($ty:ty => $kind:ident),+ $(,)?) => {$(
        impl Value for $ty {
            const KIND: Kind = Kind::$kind;
            fn read(text: &str) -> Option<Self> {
                text.trim().parse().ok()
            }
        }
    )+};
}

parsed_values!(i32 => Int, i64 => Long, f64 => Double);

impl Value for bool {
    const KIND: Kind = Kind::Boolean;
    fn read(text: &str) -> Option<Self> {
        Some(text.trim().eq_ignore_ascii_case("true"))
    }
}

impl Value for String {
    const KIND: Kind = Kind::String;
    fn read(text: &str) -> Option<Self> {
        Some(text.trim().to_owned())
    }
}

impl Value for Vec<String> {
    const KIND: Kind = Kind::List;
    fn read(text: &str) -> Option<Self> {
        Some(list_elements(text).map(str::to_owned).collect())
    }
}

/// Writes a table: a struct with a field for each key, its defaults, and the rows.
macro_rules! config_table {
    (
        $(#[$struct_doc:meta])*
        pub struct $table:ident, rows $rows:ident {
            $($(#[doc = $doc:literal])+ $field:ident: $ty:ty = $name:literal, $default:literal, $bounds:expr, $dynamic:ident;)+
        }
    ) => {
        $(#[$struct_doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $table {
            $($(#[doc = $doc])+ pub $field: $ty,)+
        }

        /// The rows of the table, in order of field.
        pub const $rows: &[$crate::config::Key] = &[
            $($crate::config::Key {
                name: $name,
                kind: <$ty as $crate::config::key::Value>::KIND,
                default: Some($default),
                bounds: $bounds,
                is_dynamic: $crate::config::key::config_table!(@$dynamic),
                doc: concat!($($doc),+),
            },)+
        ];

        impl Default for $table {
            fn default() -> Self {
                Self {
                    $($field: <$ty as $crate::config::key::Value>::read($default)
                        .expect("a table's defaults are of its types, tested below"),)+
                }
            }
        }

        impl $table {
            /// Sets one key from text. `None` if there is no such key.
            ///
            /// # Errors
            /// [`ConfigError`](crate::config::ConfigError) if the value is not of the type or out of bounds; nothing is changed.
            pub fn set(&mut self, name: &str, value: &str) -> Option<Result<(), $crate::config::ConfigError>> {
                let key = $rows.iter().find(|key| key.name == name)?;
                if let Err(error) = key.check(value) {
                    return Some(Err(error));
                }
                match name {
                    $($name => {
                        if let Some(read) = <$ty as $crate::config::key::Value>::read(value) {
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
}
pub(super) use config_table;

//! One row of a configuration table: what a key is called, what values it takes, and in which words a value is refused.
//!
//! Answers to Kafka's `ConfigDef`; the texts are those that Kafka 4.4.0 sends to a client.

use std::fmt;

/// The type of a value, as DescribeConfigs names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Boolean,
    /// Text.
    String,
    /// A 32-bit integer.
    Int,
    /// A 16-bit integer.
    Short,
    /// A 64-bit integer.
    Long,
    /// A floating point number.
    Double,
    /// Texts, separated by commas.
    List,
    /// The name of a Java class.
    Class,
    /// A secret; never shown.
    Password,
}

impl Kind {
    /// The number of the type in DescribeConfigs answers.
    #[must_use]
    pub const fn code(self) -> i8 {
        match self {
            Self::Boolean => 1,
            Self::String => 2,
            Self::Int => 3,
            Self::Short => 4,
            Self::Long => 5,
            Self::Double => 6,
            Self::List => 7,
            Self::Class => 8,
            Self::Password => 9,
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
    /// From the first to the second, inclusive, or the third.
    BetweenOr(i64, i64, i64),
    /// A number from the first to the second, inclusive.
    BetweenDoubles(f64, f64),
    /// One of these; for a list, each element one of these.
    OneOf(&'static [&'static str]),
    /// One of these in upper or lower case.
    OneOfAnyCase(&'static [&'static str]),
    /// A list that is not empty, each element one of these.
    SomeOf(&'static [&'static str]),
    /// A list that is not empty.
    NotEmpty,
    /// `*`, or a list of `partition:broker`.
    ThrottledReplicas,
    /// `earliest`, `latest`, or `by_duration:` and an ISO 8601 duration.
    OffsetReset,
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
    /// Whether it can be changed for one broker only, not for the whole cluster.
    pub is_per_broker: bool,
    /// Whether it is left out of descriptions unless it is set.
    pub is_internal: bool,
    /// The broker's key that gives the value where this one is not set.
    pub synonym: Option<&'static str>,
    /// What it does, units included.
    pub doc: &'static str,
}

/// Why a setting is refused. The message names the key, the value, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The key, "" if the text could not be read that far.
    pub key: String,
    /// What is wrong, in Kafka's words where Kafka has them.
    pub message: String,
    /// Where the value stands, such as `server.properties, line 3`, if it came from a file or a command line.
    pub place: Option<String>,
}

impl ConfigError {
    /// An error without a place.
    pub fn new(key: &str, message: impl Into<String>) -> Self {
        Self { key: key.to_owned(), message: message.into(), place: None }
    }

    /// The same error with the place where the value stands.
    #[must_use]
    pub fn at(mut self, place: &str) -> Self {
        self.place = Some(place.to_owned());
        self
    }

    fn of_value(key: &str, value: &str, reason: &str) -> Self {
        Self::new(key, format!("Invalid value {value} for configuration {key}: {reason}"))
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(out, "{place}: {}", self.message),
            None => out.write_str(&self.message),
        }
    }
}

impl std::error::Error for ConfigError {}

impl Key {
    /// Whether the value must not be shown.
    #[must_use]
    pub fn is_sensitive(&self) -> bool {
        self.kind == Kind::Password
    }

    /// Checks a value's type and bounds.
    ///
    /// # Errors
    /// [`ConfigError`] in Kafka's words.
    pub fn check(&self, value: &str) -> Result<(), ConfigError> {
        let text = value.trim();
        let checked = match self.kind {
            Kind::Boolean => check_boolean(text),
            Kind::Short => text.parse::<i16>().map_err(|_| "Not a number of type SHORT".to_owned()).map(i64::from),
            Kind::Int => text.parse::<i32>().map_err(|_| "Not a number of type INT".to_owned()).map(i64::from),
            Kind::Long => text.parse::<i64>().map_err(|_| "Not a number of type LONG".to_owned()),
            Kind::Double => return self.check_double(value),
            Kind::List => return self.check_list(value),
            Kind::String | Kind::Class | Kind::Password => return self.check_word(text),
        };
        checked
            .and_then(|number| self.check_number(number))
            .map_err(|reason| ConfigError::of_value(self.name, value, &reason))
    }

    fn check_number(&self, number: i64) -> Result<(), String> {
        match self.bounds {
            Bounds::AtLeast(low) | Bounds::Between(low, _) if number < low => {
                Err(format!("Value must be at least {low}"))
            }
            Bounds::Between(_, high) if number > high => Err(format!("Value must be no more than {high}")),
            Bounds::BetweenOr(low, high, other) if number != other && !(low..=high).contains(&number) => {
                Err(format!("Value must be between {low} and {high} or equal to {other}"))
            }
            _ => Ok(()),
        }
    }

    fn check_double(&self, value: &str) -> Result<(), ConfigError> {
        let refused = |reason: &str| Err(ConfigError::of_value(self.name, value, reason));
        let number = value.trim().parse::<f64>().unwrap_or(f64::NAN);
        if number.is_nan() {
            return refused("Not a number of type DOUBLE");
        }
        match self.bounds {
            Bounds::BetweenDoubles(low, _) if number < low => refused(&format!("Value must be at least {low}")),
            Bounds::BetweenDoubles(_, high) if number > high => refused(&format!("Value must be no more than {high}")),
            _ => Ok(()),
        }
    }

    fn check_list(&self, value: &str) -> Result<(), ConfigError> {
        let elements: Vec<&str> = list_elements(value).collect();
        if elements.iter().any(|element| element.is_empty()) {
            return Err(ConfigError::new(
                self.name,
                format!("Configuration '{}' values must not be empty.", self.name),
            ));
        }
        match self.bounds {
            Bounds::NotEmpty | Bounds::SomeOf(_) if elements.is_empty() => Err(ConfigError::new(
                self.name,
                format!(
                    "Configuration '{}' must not be empty. Valid values include: {}",
                    self.name,
                    self.words().map_or_else(|| "any non-empty value".to_owned(), |words| words.join(", "))
                ),
            )),
            Bounds::ThrottledReplicas if !is_throttled_replicas(&elements) => {
                let reason = format!(
                    "{} must be the literal '*' or a list of replicas in the following format: \
                     [partitionId]:[brokerId],[partitionId]:[brokerId],...",
                    self.name
                );
                Err(ConfigError::of_value(self.name, &format!("[{}]", elements.join(", ")), &reason))
            }
            _ => elements.iter().try_for_each(|element| self.check_word(element)),
        }
    }

    fn words(&self) -> Option<&'static [&'static str]> {
        match self.bounds {
            Bounds::OneOf(words) | Bounds::SomeOf(words) | Bounds::OneOfAnyCase(words) => Some(words),
            _ => None,
        }
    }

    fn check_word(&self, word: &str) -> Result<(), ConfigError> {
        let reason = match self.bounds {
            Bounds::OneOf(words) | Bounds::SomeOf(words) if !words.contains(&word) => {
                format!("String must be one of: {}", words.join(", "))
            }
            Bounds::OneOfAnyCase(words) if !words.iter().any(|known| known.eq_ignore_ascii_case(word)) => {
                format!("String must be one of (case insensitive): {}", words.join(", "))
            }
            Bounds::OffsetReset if !is_offset_reset(word) => format!(
                "Invalid value `{word}` for configuration {}. The value must be either 'earliest', 'latest' or of the \
                 format 'by_duration:<PnDTnHnMn.nS>'.",
                self.name
            ),
            _ => return Ok(()),
        };
        Err(ConfigError::of_value(self.name, word, &reason))
    }
}

fn check_boolean(text: &str) -> Result<i64, String> {
    if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
        return Ok(0);
    }
    Err("Expected value to be either true or false".to_owned())
}

/// The elements of a list value; an empty text is an empty list. An element may be empty: `a,,b`.
pub(crate) fn list_elements(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim();
    text.split(',').map(str::trim).filter(move |_| !text.is_empty())
}

fn is_throttled_replicas(elements: &[&str]) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_replica =
        |element: &str| element.split_once(':').is_some_and(|(index, broker)| is_number(index) && is_number(broker));
    elements == ["*"] || elements.iter().all(|element| is_replica(element))
}

fn is_offset_reset(word: &str) -> bool {
    match word.strip_prefix("by_duration:") {
        Some(duration) => is_duration(duration),
        None => word == "earliest" || word == "latest",
    }
}

/// Whether this is a duration as Java reads it: `P`, days, then `T`, hours, minutes and seconds with a fraction.
fn is_duration(text: &str) -> bool {
    let text = text.to_ascii_uppercase();
    let Some(rest) = text.strip_prefix('P') else { return false };
    let (days, time) = rest.split_once('T').map_or((rest, None), |(days, time)| (days, Some(time)));
    let is_days = days.is_empty() || takes_units(days, "D");
    match time {
        Some(time) => is_days && !time.is_empty() && takes_units(time, "HMS"),
        None => !days.is_empty() && is_days,
    }
}

/// Whether `text` is numbers, each with one of `units` behind it, the units in their order and each at most once.
/// Only seconds take a fraction.
fn takes_units(text: &str, units: &str) -> bool {
    let mut units = units.chars();
    let mut number = String::new();
    for char in text.chars() {
        if char.is_ascii_digit() || char == '.' {
            number.push(char);
            continue;
        }
        let digits = number.strip_suffix(|last: char| last == '.').is_none() && number.matches('.').count() <= 1;
        let is_fraction_allowed = char == 'S' || !number.contains('.');
        let is_number = !number.is_empty() && !number.starts_with('.') && number.len() <= 18 && digits;
        if !units.any(|unit| unit == char) || !is_number || !is_fraction_allowed {
            return false;
        }
        number.clear();
    }
    number.is_empty()
}

#[cfg(test)]
mod tests;

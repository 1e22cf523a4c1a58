//! Values against the type and the bounds of their key.

use super::*;

fn key(kind: Kind, bounds: Bounds) -> Key {
    Key {
        name: "k",
        kind,
        default: None,
        bounds,
        is_dynamic: true,
        is_per_broker: false,
        is_internal: false,
        synonym: None,
        doc: "",
    }
}

fn refusal(kind: Kind, bounds: Bounds, value: &str) -> Option<String> {
    key(kind, bounds).check(value).err().map(|error| error.message)
}

const GZIP: Bounds = Bounds::BetweenOr(1, 9, -1);
const RATIO: Bounds = Bounds::BetweenDoubles(0.0, 1.0);
const A_OR_B: Bounds = Bounds::OneOf(&["a", "b"]);

#[test]
fn a_refused_value_is_told_in_kafkas_words() {
    for (kind, bounds, value, reason) in [
        (Kind::Int, Bounds::Any, "soon", "Not a number of type INT"),
        (Kind::Int, Bounds::Any, "2147483648", "Not a number of type INT"),
        (Kind::Int, Bounds::AtLeast(1), "0", "Value must be at least 1"),
        (Kind::Int, Bounds::Between(1, 17), "18", "Value must be no more than 17"),
        (Kind::Int, Bounds::Between(1, 17), "0", "Value must be at least 1"),
        (Kind::Int, GZIP, "0", "Value must be between 1 and 9 or equal to -1"),
        (Kind::Short, Bounds::Any, "32768", "Not a number of type SHORT"),
        (Kind::Long, Bounds::AtLeast(-1), "-2", "Value must be at least -1"),
        (Kind::Long, Bounds::Any, "9223372036854775808", "Not a number of type LONG"),
        (Kind::Double, RATIO, "1.5", "Value must be no more than 1"),
        (Kind::Double, RATIO, "-0.5", "Value must be at least 0"),
        (Kind::Double, Bounds::Any, "much", "Not a number of type DOUBLE"),
        (Kind::Double, RATIO, "NaN", "Not a number of type DOUBLE"),
        (Kind::Boolean, Bounds::Any, "yes", "Expected value to be either true or false"),
        (Kind::String, A_OR_B, "c", "String must be one of: a, b"),
        (Kind::String, Bounds::OneOfAnyCase(&["A"]), "c", "String must be one of (case insensitive): A"),
    ] {
        let message = format!("Invalid value {value} for configuration k: {reason}");
        assert_eq!(refusal(kind, bounds, value), Some(message));
    }
}

#[test]
fn a_refused_list_is_told_in_kafkas_words() {
    let refusal = |bounds, value| refusal(Kind::List, bounds, value).expect("refused");
    assert_eq!(refusal(A_OR_B, "a, c"), "Invalid value c for configuration k: String must be one of: a, b");
    assert_eq!(refusal(Bounds::Any, "a,,b"), "Configuration 'k' values must not be empty.");
    assert_eq!(
        refusal(Bounds::NotEmpty, ""),
        "Configuration 'k' must not be empty. Valid values include: any non-empty value"
    );
    assert_eq!(refusal(Bounds::SomeOf(&["a"]), " "), "Configuration 'k' must not be empty. Valid values include: a");
    assert_eq!(
        refusal(Bounds::ThrottledReplicas, "0:1,*"),
        "Invalid value [0:1, *] for configuration k: k must be the literal '*' or a list of replicas in the \
         following format: [partitionId]:[brokerId],[partitionId]:[brokerId],..."
    );
}

#[test]
fn a_refused_offset_reset_is_told_in_kafkas_words() {
    assert_eq!(
        refusal(Kind::String, Bounds::OffsetReset, "never").as_deref(),
        Some(
            "Invalid value never for configuration k: Invalid value `never` for configuration k. The value must be \
             either 'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'."
        )
    );
}

#[test]
fn what_kafka_accepts_is_accepted() {
    let accepted = [
        (Kind::Int, Bounds::BetweenOr(1, 9, -1), "-1"),
        (Kind::Long, Bounds::AtLeast(-1), " +5 "),
        (Kind::Boolean, Bounds::Any, " TRUE "),
        (Kind::List, Bounds::OneOf(&["a"]), ""),
        (Kind::List, Bounds::OneOf(&["a", "b"]), " a , b "),
        (Kind::List, Bounds::ThrottledReplicas, "*"),
        (Kind::List, Bounds::ThrottledReplicas, "0:1, 1:1"),
        (Kind::List, Bounds::ThrottledReplicas, ""),
        (Kind::String, Bounds::OneOfAnyCase(&["UPGRADE"]), "upgrade"),
        (Kind::String, Bounds::OffsetReset, "by_duration:PT1H"),
        (Kind::String, Bounds::OffsetReset, "by_duration:P1DT2H3M4.5S"),
        (Kind::String, Bounds::OffsetReset, "earliest"),
    ];
    for (kind, bounds, value) in accepted {
        assert_eq!(refusal(kind, bounds, value), None, "{value}");
    }
}

#[test]
fn a_duration_is_read_as_java_reads_it() {
    for good in ["P1D", "PT1H", "PT90M", "PT0.5S", "P1DT1S", "pt1h"] {
        assert!(is_duration(good), "{good}");
    }
    for bad in ["", "P", "PT", "P1DT", "1H", "-PT1H", "PT1M1H", "PT1H1H", "PT1", "P1H", "PT.5S", "PT1.H", "PT1.5H"] {
        assert!(!is_duration(bad), "{bad}");
    }
}

#[test]
fn an_error_names_its_place() {
    let error = ConfigError::new("k", "k is wrong").at("server.properties, line 3");
    assert_eq!(error.to_string(), "server.properties, line 3: k is wrong");
}

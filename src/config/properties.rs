//! Java's `.properties` files, read as `java.util.Properties` reads them, and the nearest known name for a mistyped one.

use super::ConfigError;

/// A key and its text, with the place where they stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key.
    pub key: String,
    /// The value as text.
    pub value: String,
    /// Where it stands, such as `server.properties, line 3`.
    pub place: String,
}

/// Reads a file's text. `file` is the name under which places are told.
///
/// A key ends at `=`, `:` or white space; `\` at a line's end joins the next line to it; `\t`, `\n`, `\r`, `\f` and
/// `\uXXXX` stand for characters, and `\` before anything else for that; lines that begin with `#` or `!` are comments.
///
/// # Errors
/// [`ConfigError`] with file and line if a `\u` is not followed by four hexadecimal digits, or a line has no key.
pub fn parse_properties(file: &str, text: &str) -> Result<Vec<Setting>, ConfigError> {
    let mut settings = Vec::new();
    for (number, line) in logical_lines(text) {
        let place = format!("{file}, line {number}");
        let (key, value) = split(&line);
        let read = |part: &str| {
            unescape(part).ok_or_else(|| {
                ConfigError::new("", "\\u must be followed by four hexadecimal digits, as in \\u00e9").at(&place)
            })
        };
        let (key, value) = (read(key)?, read(value)?);
        if key.is_empty() {
            return Err(ConfigError::new("", format!("a value without a key: '{}'", line.trim())).at(&place));
        }
        settings.push(Setting { key, value, place });
    }
    Ok(settings)
}

/// The lines with continuations joined, without comments and blank lines; each with the number of its first line.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    for (index, line) in text.split('\n').enumerate() {
        let line = line.trim_start_matches(is_white);
        if !is_open && (line.is_empty() || line.starts_with(['#', '!'])) {
            continue;
        }
        let backslashes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
        let continues = backslashes % 2 == 1;
        let kept = if continues { line.strip_suffix('\\').unwrap_or(line) } else { line };
        match lines.last_mut() {
            Some((_, open)) if is_open => open.push_str(kept),
            _ => lines.push((index + 1, kept.to_owned())),
        }
        is_open = continues;
    }
    lines.retain(|(_, line)| !line.is_empty());
    lines
}

fn is_white(char: char) -> bool {
    matches!(char, ' ' | '\t' | '\x0c')
}

/// Cuts a line at the first separator that no backslash protects.
fn split(line: &str) -> (&str, &str) {
    let mut is_protected = false;
    let ends_key = |char: char| {
        let ends = !is_protected && (is_white(char) || matches!(char, '=' | ':'));
        is_protected = char == '\\' && !is_protected;
        ends
    };
    let end = line.find(ends_key).unwrap_or(line.len());
    let (key, rest) = line.split_at(end);
    let rest = rest.trim_start_matches(is_white);
    let value = rest.strip_prefix(['=', ':']).unwrap_or(rest);
    (key, value.trim_start_matches(is_white))
}

/// Replaces the escapes. `None` if a `\u` lacks its digits.
fn unescape(text: &str) -> Option<String> {
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        let char = match (char, chars.clone().next()) {
            ('\\', None) => continue,
            ('\\', Some('u')) => {
                let digits: String = chars.by_ref().skip(1).take(4).collect();
                let is_hex = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                units.push(u16::from_str_radix(&digits, 16).ok().filter(|_| is_hex)?);
                continue;
            }
            ('\\', Some(escaped)) => {
                chars.next();
                match escaped {
                    't' => '\t',
                    'n' => '\n',
                    'r' => '\r',
                    'f' => '\x0c',
                    other => other,
                }
            }
            (plain, _) => plain,
        };
        units.extend_from_slice(char.encode_utf16(&mut [0; 2]));
    }
    // Half of a surrogate pair is no character; Java keeps it, a text here cannot.
    Some(String::from_utf16_lossy(&units))
}

/// The name among `known` that is the fewest edits away from `name`.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known.into_iter().min_by_key(|candidate| edits(name, candidate))
}

fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, from_char) in from.chars().enumerate() {
        let mut diagonal = line;
        let mut left = line + 1;
        for (cell, to_char) in row.iter_mut().skip(1).zip(&to) {
            let above = *cell;
            left = (above + 1).min(left + 1).min(diagonal + usize::from(from_char != *to_char));
            diagonal = above;
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = line + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        let settings = parse_properties("f", text).expect("readable");
        settings.into_iter().map(|setting| (setting.key, setting.value)).collect()
    }

    fn pair(key: &str, value: &str) -> Vec<(String, String)> {
        vec![(key.to_owned(), value.to_owned())]
    }

    #[test]
    fn a_key_ends_at_the_first_separator() {
        for line in ["a=b", "a = b", "a:b", "a : b", "a b", "  a\t b", "a\x0c=\tb"] {
            assert_eq!(pairs(line), pair("a", "b"), "{line}");
        }
        assert_eq!(pairs("listeners=PLAINTEXT://h:1"), pair("listeners", "PLAINTEXT://h:1"));
        assert_eq!(pairs("a==b"), pair("a", "=b"));
        assert_eq!(pairs("a"), pair("a", ""));
        assert_eq!(pairs("a="), pair("a", ""));
        assert_eq!(pairs(r"a\=b\ c=d"), pair("a=b c", "d"));
        assert_eq!(pairs("a=b  "), pair("a", "b  "), "Java keeps what stands behind a value");
    }

    #[test]
    fn comments_and_blank_lines_are_skipped() {
        assert_eq!(pairs("# x=1\n! y=2\n\n   \n  # z=3\na=b # kept"), pair("a", "b # kept"));
    }

    #[test]
    fn a_backslash_joins_the_next_line() {
        assert_eq!(pairs("a=b,\\\n    c"), pair("a", "b,c"));
        assert_eq!(pairs("a=b\\\r\n# c"), pair("a", "b# c"), "the next line is no comment");
        assert_eq!(pairs("a=b\\\\\nc=d").len(), 2, "an escaped backslash joins nothing");
        assert_eq!(pairs("a=b\\"), pair("a", "b"));
        assert_eq!(pairs("a=b\\\n\nc=d").len(), 2, "a blank line ends the joined one");
    }

    #[test]
    fn escapes_stand_for_characters() {
        assert_eq!(pairs(r"a=\t\n\r\f\\\q\u00e9"), pair("a", "\t\n\r\x0c\\q\u{e9}"));
        assert_eq!(pairs(r"a=\ud83d\ude00"), pair("a", "\u{1f600}"), "two halves make one character");
    }

    #[test]
    fn an_unreadable_line_is_told_with_file_and_line() {
        let error = parse_properties("server.properties", "a=b\n\n# c\nd=\\u12g4").unwrap_err();
        assert!(error.to_string().starts_with("server.properties, line 4: "), "{error}");
        assert!(parse_properties("f", "a=\\u12").is_err());
        assert!(parse_properties("f", "a=\\u+123").is_err());
        assert_eq!(parse_properties("f", "\n= b").unwrap_err().to_string(), "f, line 2: a value without a key: '= b'");
    }

    #[test]
    fn a_joined_line_has_the_place_of_its_beginning() {
        let settings = parse_properties("f", "x=1\na=b\\\n c\nd=e").unwrap();
        let places: Vec<&str> = settings.iter().map(|setting| setting.place.as_str()).collect();
        assert_eq!(places, ["f, line 1", "f, line 2", "f, line 4"]);
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config {
            rng_seed: proptest::test_runner::RngSeed::Fixed(11),
            ..Default::default()
        })]

        /// Whatever stands in a file is read or refused, line by line.
        #[test]
        fn any_text_is_read_or_refused(text in "[ \t\r\n\\\\u0a=:#!é\u{1f600}]{0,60}") {
            if let Ok(settings) = parse_properties("f", &text) {
                proptest::prop_assert!(settings.iter().all(|setting| !setting.key.is_empty()));
                let _ = crate::config::Config::from_sources(&settings, &[]);
            }
        }

        /// Simple pairs come back as they were written.
        #[test]
        fn what_is_written_is_read(pairs in proptest::collection::vec(("[a-z.]{1,9}", "[a-z0-9,.]{0,9}"), 0..9)) {
            let lines: Vec<String> = pairs.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
            let text = lines.concat();
            proptest::prop_assert_eq!(super::tests::pairs(&text), pairs);
        }
    }

    #[test]
    fn a_mistyped_name_finds_its_neighbour() {
        let known = ["num.partitions", "max.connections", "delete.topic.enable"];
        assert_eq!(nearest("num.partition", known), Some("num.partitions"));
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("abc", ""), 3);
    }
}

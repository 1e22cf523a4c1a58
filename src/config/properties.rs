//! Java's `.properties` files, and the nearest known name for a mistyped one.

/// Reads `key=value` lines. Blank lines and lines that start with `#` or `!` are skipped.
#[must_use]
pub fn parse_properties(text: &str) -> Vec<(String, String)> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with(['#', '!']))
        .map(|line| line.split_once('=').unwrap_or((line, "")))
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .collect()
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

    #[test]
    fn a_mistyped_name_finds_its_neighbour() {
        let known = ["num.partitions", "max.connections", "delete.topic.enable"];
        assert_eq!(nearest("num.partition", known), Some("num.partitions"));
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("abc", ""), 3);
    }
}

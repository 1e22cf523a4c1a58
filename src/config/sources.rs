//! From settings files and the command line to a [`Config`]: the last value of a key wins, an unknown key is a warning
//! that names the nearest known one, a bad value is an error that says where it stands.

use std::fmt;

use super::{BROKER_KEYS, Config, ConfigError, Setting, known, nearest};

/// Something in the settings that a reader should look at, but that does not keep the server from starting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The key.
    pub key: String,
    /// Where it stands.
    pub place: String,
    /// What is odd, in a sentence.
    pub message: String,
}

impl Warning {
    fn new(setting: &Setting, message: String) -> Self {
        Self { key: setting.key.clone(), place: setting.place.clone(), message }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.place, self.message)
    }
}

/// Keys that Kafka takes for each other: where only the first is given, it counts as the second.
const ALIASES: &[(&str, &str)] = &[("broker.id", "node.id"), ("log.dir", "log.dirs")];

impl Config {
    /// Reads settings: those of files first, then those of the command line (key and value). Of several for one key the
    /// last holds. Settings of the environment, if any, belong behind those of the files.
    ///
    /// # Errors
    /// [`ConfigError`] for the first value that is not of its type or out of bounds, with its place; or for values that
    /// do not go together.
    pub fn from_sources(file: &[Setting], overrides: &[(String, String)]) -> Result<(Self, Vec<Warning>), ConfigError> {
        let overrides = overrides.iter().map(|(key, value)| Setting {
            key: key.trim().to_owned(),
            value: value.clone(),
            place: "--override".to_owned(),
        });
        let settings: Vec<Setting> = file.iter().cloned().chain(overrides).collect();
        let mut config = Self::default();
        let mut warnings = Vec::new();
        for setting in &settings {
            match config.set(&setting.key, &setting.value) {
                Some(outcome) => outcome.map_err(|error| error.at(&setting.place))?,
                None if known::is_known(&setting.key) => config.remember(setting),
                None => warnings.push(unknown(setting)),
            }
        }
        config.fill_aliases(&settings)?;
        config.check()?;
        config.listener()?;
        config.advertised_listener()?;
        warnings.extend(config.settle_for_one_node(&settings));
        warnings.extend(unkept_promise(&settings));
        Ok((config, warnings))
    }

    fn remember(&mut self, setting: &Setting) {
        self.explicit.insert(setting.key.clone(), setting.value.trim().to_owned());
    }

    fn fill_aliases(&mut self, settings: &[Setting]) -> Result<(), ConfigError> {
        for (alias, key) in ALIASES {
            let given = settings.iter().rfind(|setting| setting.key == *alias);
            if let Some(setting) = given
                && self.explicit_text(key).is_none()
                && let Some(outcome) = self.set(key, &setting.value)
            {
                outcome.map_err(|error| error.at(&setting.place))?;
            }
        }
        Ok(())
    }

    /// What a cluster would take and one node cannot: taken as far as it goes, with a warning.
    fn settle_for_one_node(&mut self, settings: &[Setting]) -> Vec<Warning> {
        let last = |key: &str| settings.iter().rfind(|setting| setting.key == key);
        let mut warnings = Vec::new();
        if self.default_replication_factor > 1
            && let Some(setting) = last("default.replication.factor")
        {
            let text = "default.replication.factor is 1 here: this server is one node".to_owned();
            warnings.push(Warning::new(setting, text));
            self.default_replication_factor = 1;
        }
        if let Some(setting) = last("log.dirs").or_else(|| last("log.dir"))
            && let Some(dir) = self.data_dir()
        {
            let others = self.log_dirs.as_ref().map_or(0, |dirs| dirs.len().saturating_sub(1));
            let mut text = format!(
                "{} is taken as the data directory ({dir}) unless the command line names one; \
                 it must not be a folder that Apache Kafka has written",
                setting.key
            );
            if others > 0 {
                text.push_str("; only its first folder is used");
            }
            warnings.push(Warning::new(setting, text));
        }
        warnings
    }
}

fn unknown(setting: &Setting) -> Warning {
    let names = BROKER_KEYS.iter().chain(known::KNOWN_WITHOUT_EFFECT).map(|key| key.name);
    let hint =
        nearest(&setting.key, names).map(|name| format!("; the nearest known one is {name}")).unwrap_or_default();
    Warning::new(setting, format!("unknown key {}{hint}", setting.key))
}

/// One warning for all keys that ask for a protection this server does not have.
fn unkept_promise(settings: &[Setting]) -> Option<Warning> {
    let is_promise = |setting: &&Setting| known::is_protection(&setting.key) && !setting.value.trim().is_empty();
    let first = settings.iter().find(is_promise)?;
    let mut keys: Vec<&str> = settings.iter().filter(is_promise).map(|setting| setting.key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    let text = format!(
        "no effect: {}; there is no encryption, authentication or authorization, whoever reaches the listener may do everything",
        keys.join(", ")
    );
    Some(Warning::new(first, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse_properties;

    fn read(text: &str) -> Result<(Config, Vec<Warning>), ConfigError> {
        Config::from_sources(&parse_properties("server.properties", text)?, &[])
    }

    fn warnings(text: &str) -> Vec<String> {
        read(text).expect("acceptable").1.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_cases_settings_are_taken_as_they_are() {
        let text = "# What the cases assume of a broker.
            group.initial.rebalance.delay.ms=0
            group.min.session.timeout.ms=1000
            group.streams.initial.rebalance.delay.ms=0
            group.streams.assignment.interval.ms=0
            group.streams.min.session.timeout.ms=1000
            group.streams.min.heartbeat.interval.ms=100
            group.consumer.assignment.interval.ms=0
            group.consumer.min.session.timeout.ms=1000
            group.consumer.min.heartbeat.interval.ms=100
            group.share.assignment.interval.ms=0
            group.share.min.session.timeout.ms=1000
            group.share.min.heartbeat.interval.ms=100
            group.share.min.record.lock.duration.ms=1000
            transaction.abort.timed.out.transaction.cleanup.interval.ms=500";
        let (config, warnings) = read(text).unwrap();
        assert_eq!(warnings, []);
        assert_eq!(config.group_streams_min_session_timeout_ms, 1000);
        assert_eq!(config.group_share_min_record_lock_duration_ms, 1000);
        assert_eq!(config.explicit_text("group.streams.assignment.interval.ms"), Some("0"));
    }

    #[test]
    fn a_brokers_file_is_taken_without_a_word_on_what_has_no_effect() {
        let text = "process.roles=broker,controller
            node.id=3
            controller.quorum.voters=3@127.0.0.1:19141
            listeners=PLAINTEXT://127.0.0.1:19140,CONTROLLER://127.0.0.1:19141
            advertised.listeners=PLAINTEXT://127.0.0.1:19140
            controller.listener.names=CONTROLLER
            inter.broker.listener.name=PLAINTEXT
            listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
            offsets.topic.replication.factor=1
            num.network.threads=3
            zookeeper.connect=localhost:2181";
        let (config, warnings) = read(text).unwrap();
        assert_eq!(warnings, []);
        assert_eq!(config.node_id, 3);
        assert_eq!(config.listener().unwrap().port, 19_140);
        assert_eq!(config.explicit_text("num.network.threads"), Some("3"));
    }

    #[test]
    fn an_unknown_key_is_a_warning_that_names_the_nearest() {
        assert_eq!(
            warnings("a=1\nnum.partition=3").last().unwrap(),
            "server.properties, line 2: unknown key num.partition; the nearest known one is num.partitions"
        );
        assert_eq!(read("num.partition=3").unwrap().0.num_partitions, 1);
    }

    #[test]
    fn a_bad_value_is_an_error_that_says_where_it_stands() {
        assert_eq!(
            read("num.partitions=3\nqueued.max.requests=many").unwrap_err().to_string(),
            "server.properties, line 2: Invalid value many for configuration queued.max.requests: Not a number of type INT"
        );
        let overrides = [("num.partitions".to_owned(), "0".to_owned())];
        assert_eq!(
            Config::from_sources(&[], &overrides).unwrap_err().to_string(),
            "--override: Invalid value 0 for configuration num.partitions: Value must be at least 1"
        );
    }

    #[test]
    fn the_last_value_of_a_key_holds_and_the_command_line_comes_last() {
        let file = parse_properties("f", "num.partitions=2\nnum.partitions=3").unwrap();
        assert_eq!(Config::from_sources(&file, &[]).unwrap().0.num_partitions, 3);
        let overrides = [("num.partitions".to_owned(), "4".to_owned())];
        assert_eq!(Config::from_sources(&file, &overrides).unwrap().0.num_partitions, 4);
    }

    #[test]
    fn the_older_names_of_node_and_folder_count_where_the_newer_are_missing() {
        assert_eq!(read("broker.id=5").unwrap().0.node_id, 5);
        assert_eq!(read("broker.id=5\nnode.id=6").unwrap().0.node_id, 6);
        assert_eq!(read("log.dir=/a").unwrap().0.data_dir(), Some("/a"));
        assert_eq!(read("log.dirs=/b,/c\nlog.dir=/a").unwrap().0.data_dir(), Some("/b"));
        assert!(warnings("log.dirs=/b,/c")[0].contains("only its first folder"));
        assert_eq!(read("").unwrap().0.data_dir(), None);
    }

    #[test]
    fn what_asks_for_protection_or_replicas_is_told_to_be_without() {
        let told = warnings("ssl.keystore.location=/k\nauthorizer.class.name=A\nsuper.users=");
        assert_eq!(told.len(), 1);
        assert!(told[0].contains("authorizer.class.name, ssl.keystore.location"), "{}", told[0]);
        let (config, warnings) = read("default.replication.factor=3").unwrap();
        assert_eq!((config.default_replication_factor, warnings.len()), (1, 1));
        assert!(read("listeners=SSL://:9093").is_err());
    }
}

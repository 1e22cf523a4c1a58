//! Reads `listeners` and `advertised.listeners`: where to listen, and what to tell clients.
//!
//! Answers to Kafka's `SocketServerConfigs`. One plaintext listener for clients is served; a file written for a broker
//! that is its own controller has the controller's listener in it, which is passed over. A listener that promises
//! encryption or authentication is refused rather than served without.

use std::fmt;

use super::{Config, ConfigError};

/// The host and port of a listener. Port 0 means "a free one".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Host name or address, without the brackets of an IPv6 address; "" for all interfaces.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(out, "[{}]:{}", self.host, self.port)
        } else {
            write!(out, "{}:{}", self.host, self.port)
        }
    }
}

/// Reads `host:port`, with brackets around an IPv6 address. `None` if it is no such thing.
#[must_use]
pub fn parse_address(text: &str) -> Option<Address> {
    let (host, port) = text.trim().rsplit_once(':')?;
    let port = port.parse().ok()?;
    let host = match host.strip_prefix('[') {
        Some(bracketed) => bracketed.strip_suffix(']')?,
        None if host.contains(':') => return None,
        None => host,
    };
    Some(Address { host: host.to_owned(), port })
}

impl Config {
    /// Where clients connect.
    ///
    /// # Errors
    /// [`ConfigError`] if `listeners` cannot be read or has no plaintext listener for clients.
    pub fn listener(&self) -> Result<Address, ConfigError> {
        self.client_address("listeners", &self.listeners)
    }

    /// What clients are told; `None` to tell them where they connect.
    ///
    /// # Errors
    /// [`ConfigError`] if `advertised.listeners` cannot be read, or names no host that a client could reach.
    pub fn advertised_listener(&self) -> Result<Option<Address>, ConfigError> {
        let Some(listeners) = &self.advertised_listeners else { return Ok(None) };
        let address = self.client_address("advertised.listeners", listeners)?;
        if matches!(address.host.as_str(), "0.0.0.0" | "::" | "") {
            return Err(ConfigError::new(
                "advertised.listeners",
                format!(
                    "advertised.listeners cannot use the nonroutable meta-address {}. Use a routable IP address.",
                    if address.host.is_empty() { "0.0.0.0" } else { &address.host }
                ),
            ));
        }
        Ok(Some(address))
    }

    fn client_address(&self, key: &str, listeners: &[String]) -> Result<Address, ConfigError> {
        for listener in listeners {
            let unreadable =
                || ConfigError::new(key, format!("{key}: '{listener}' is not of the form NAME://host:port"));
            let (name, address) = listener.split_once("://").ok_or_else(unreadable)?;
            let address = parse_address(address).ok_or_else(unreadable)?;
            if self.controller_listener_names.iter().any(|controller| controller == name) {
                continue;
            }
            let protocol = self.protocol_of(name).ok_or_else(|| {
                let text = format!(
                    "{key}: no security protocol is defined for listener {name}; see listener.security.protocol.map"
                );
                ConfigError::new(key, text)
            })?;
            if protocol != "PLAINTEXT" {
                let text = format!("{key}: {listener} asks for {protocol}, but only PLAINTEXT is served");
                return Err(ConfigError::new(key, text));
            }
            return Ok(address);
        }
        Err(ConfigError::new(key, format!("{key} names no listener for clients")))
    }

    fn protocol_of(&self, listener_name: &str) -> Option<&str> {
        let pairs = self.listener_security_protocol_map.split(',');
        let mut pairs = pairs.filter_map(|pair| pair.trim().split_once(':'));
        pairs.find(|(name, _)| name.eq_ignore_ascii_case(listener_name)).map(|(_, protocol)| protocol)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(settings: &[(&str, &str)]) -> Config {
        let mut config = Config::default();
        for (name, value) in settings {
            config.set(name, value).expect("known").expect("good");
        }
        config
    }

    fn address(host: &str, port: u16) -> Address {
        Address { host: host.to_owned(), port }
    }

    #[test]
    fn a_combined_brokers_file_gives_the_clients_listener() {
        let config = config(&[
            ("listeners", "CONTROLLER://127.0.0.1:19141, EXTERNAL://127.0.0.1:19140"),
            ("advertised.listeners", "EXTERNAL://example.net:19140"),
            ("controller.listener.names", "CONTROLLER"),
            ("listener.security.protocol.map", "EXTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT"),
        ]);
        assert_eq!(config.listener(), Ok(address("127.0.0.1", 19_140)));
        assert_eq!(config.advertised_listener(), Ok(Some(address("example.net", 19_140))));
    }

    #[test]
    fn the_defaults_listen_on_loopback_and_advertise_that() {
        assert_eq!(Config::default().listener(), Ok(address("127.0.0.1", 9092)));
        assert_eq!(Config::default().advertised_listener(), Ok(None));
    }

    #[test]
    fn a_promise_of_encryption_is_refused_and_so_is_what_cannot_be_read() {
        for (listeners, part) in [
            ("SASL_SSL://:9093", "only PLAINTEXT"),
            ("FOO://:9093", "no security protocol"),
            ("garbage", "NAME://host:port"),
            ("PLAINTEXT://host:70000", "NAME://host:port"),
        ] {
            let error = config(&[("listeners", listeners)]).listener().unwrap_err();
            assert!(error.message.contains(part), "{error}");
        }
        let only_a_controller =
            config(&[("listeners", "C://:1"), ("controller.listener.names", "C")]).listener().unwrap_err();
        assert_eq!(only_a_controller.message, "listeners names no listener for clients");
        let everywhere = config(&[("advertised.listeners", "PLAINTEXT://0.0.0.0:9092")]);
        assert!(everywhere.advertised_listener().unwrap_err().message.contains("nonroutable"));
    }

    #[test]
    fn an_address_is_written_as_it_is_read() {
        for text in ["127.0.0.1:9092", "[::1]:9092", ":0", "host.example:1"] {
            assert_eq!(parse_address(text).unwrap().to_string(), text);
        }
        for text in ["", "9092", "host:", "::1:9092", "[::1:9092", "host:99999"] {
            assert_eq!(parse_address(text), None, "{text}");
        }
    }
}

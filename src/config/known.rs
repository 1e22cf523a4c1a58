//! Kafka's broker keys that mean nothing on this server: known, so that a broker's file is taken as it is, described
//! with what they are set to, and without effect.
//!
//! A key that gains an effect moves to [`super::broker`].

use super::key::{Bounds, Key, Kind};

macro_rules! known_keys {
    ($($update:ident $kind:ident $name:literal = $default:tt, $bounds:ident $(($($limit:literal),+))?;)+) => {
        /// Kafka 4.4's broker keys without effect here.
        pub const KNOWN_WITHOUT_EFFECT: &[Key] = &[
            $(Key {
                name: $name,
                kind: Kind::$kind,
                default: known_keys!(@default $default),
                bounds: Bounds::$bounds $(($($limit),+))?,
                is_dynamic: matches!(Update::$update, Update::cluster | Update::broker),
                is_per_broker: matches!(Update::$update, Update::broker),
                is_internal: matches!(Update::$update, Update::hidden),
                synonym: None,
                doc: "Known from Kafka; without effect on this server.",
            },)+
        ];
    };
    (@default unset) => { None };
    (@default $default:literal) => { Some($default) };
}

/// How Kafka lets a key be changed: with a restart, for the cluster, for one broker; or not shown at all.
#[allow(non_camel_case_types, dead_code, reason = "words of the table below")]
enum Update {
    fixed,
    cluster,
    broker,
    hidden,
}

known_keys! {
    fixed Int "add.partitions.to.txn.retry.backoff.max.ms" = "100", AtLeast(0);
    fixed Int "add.partitions.to.txn.retry.backoff.ms" = "20", AtLeast(1);
    fixed Class "alter.config.policy.class.name" = unset, Any;
    fixed Int "alter.log.dirs.replication.quota.window.num" = "11", AtLeast(1);
    fixed Int "alter.log.dirs.replication.quota.window.size.seconds" = "1", AtLeast(1);
    fixed String "authorizer.class.name" = "", Any;
    fixed Boolean "auto.leader.rebalance.enable" = "true", Any;
    cluster Int "background.threads" = "10", AtLeast(1);
    fixed Int "broker.heartbeat.interval.ms" = "2000", Any;
    fixed Int "broker.id" = "-1", Any;
    fixed Int "broker.session.timeout.ms" = "9000", Any;
    fixed Class "client.quota.callback.class" = unset, Any;
    cluster List "config.providers" = "", Any;
    fixed Int "connection.failed.authentication.delay.ms" = "100", AtLeast(0);
    fixed Long "connections.max.reauth.ms" = "0", Any;
    fixed Boolean "controlled.shutdown.enable" = "true", Any;
    hidden Long "controller.performance.always.log.threshold.ms" = "2000", AtLeast(0);
    hidden Long "controller.performance.sample.period.ms" = "60000", AtLeast(100);
    fixed Int "controller.quorum.append.linger.ms" = "25", AtLeast(0);
    fixed Boolean "controller.quorum.auto.join.enable" = "false", Any;
    fixed List "controller.quorum.bootstrap.servers" = "", Any;
    fixed Int "controller.quorum.election.backoff.max.ms" = "1000", AtLeast(0);
    fixed Int "controller.quorum.election.timeout.ms" = "1000", AtLeast(0);
    fixed Int "controller.quorum.fetch.max.bytes" = "1048576", AtLeast(1);
    fixed Int "controller.quorum.fetch.snapshot.max.bytes" = "1048576", AtLeast(1);
    fixed Int "controller.quorum.fetch.timeout.ms" = "2000", AtLeast(0);
    fixed Int "controller.quorum.request.timeout.ms" = "2000", AtLeast(0);
    fixed Int "controller.quorum.retry.backoff.ms" = "20", AtLeast(0);
    fixed List "controller.quorum.voters" = "", Any;
    fixed Int "controller.quota.window.num" = "11", AtLeast(1);
    fixed Int "controller.quota.window.size.seconds" = "1", AtLeast(1);
    fixed Int "controller.socket.timeout.ms" = "30000", Any;
    broker List "cordoned.log.dirs" = "", Any;
    fixed Class "create.topic.policy.class.name" = unset, Any;
    fixed Long "delegation.token.expiry.check.interval.ms" = "3600000", AtLeast(1);
    fixed Long "delegation.token.expiry.time.ms" = "86400000", AtLeast(1);
    fixed Long "delegation.token.max.lifetime.ms" = "604800000", AtLeast(1);
    fixed Password "delegation.token.secret.key" = unset, Any;
    fixed Int "delete.records.purgatory.purge.interval.requests" = "1", Any;
    fixed List "early.start.listeners" = unset, Any;
    cluster Boolean "errors.deadletterqueue.auto.create.topics.enable" = "false", Any;
    cluster String "errors.deadletterqueue.topic.name.prefix" = "dlq.", Any;
    fixed Int "fetch.purgatory.purge.interval.requests" = "1000", Any;
    cluster Boolean "follower.fetch.last.tiered.offset.enable" = "false", Any;
    fixed Int "group.coordinator.append.linger.ms" = "-1", AtLeast(-1);
    fixed Int "group.coordinator.background.threads" = "2", AtLeast(1);
    cluster Int "group.coordinator.cached.buffer.max.bytes" = "1048588", AtLeast(524_288);
    fixed Int "group.coordinator.threads" = "4", AtLeast(1);
    hidden String "group.share.dlq.manager.class.name" = unset, Any;
    hidden Int "group.share.initialize.retry.interval.ms" = "30000", AtLeast(1);
    hidden String "group.share.persister.class.name" = unset, Any;
    fixed Class "group.streams.topology.description.plugin.class" = unset, Any;
    fixed Int "initial.broker.registration.timeout.ms" = "60000", Any;
    fixed String "inter.broker.listener.name" = unset, Any;
    hidden Long "internal.metadata.delete.delay.millis" = "60000", Any;
    hidden Int "internal.metadata.log.segment.bytes" = unset, Any;
    hidden Int "internal.metadata.max.batch.size.in.bytes" = "8388608", Any;
    fixed Int "kafka.metrics.polling.interval.secs" = "10", AtLeast(1);
    fixed List "kafka.metrics.reporters" = "", Any;
    fixed Long "leader.imbalance.check.interval.seconds" = "300", AtLeast(1);
    cluster Long "log.cleaner.dedupe.buffer.size" = "134217728", Any;
    cluster Double "log.cleaner.io.buffer.load.factor" = "0.9", Any;
    cluster Int "log.cleaner.io.buffer.size" = "524288", AtLeast(0);
    cluster Double "log.cleaner.io.max.bytes.per.second" = "1.7976931348623157E308", Any;
    cluster Int "log.cleaner.threads" = "1", AtLeast(0);
    fixed List "log.dir" = unset, Any;
    fixed Long "log.dir.failure.timeout.ms" = "30000", AtLeast(1);
    fixed Int "log.flush.offset.checkpoint.interval.ms" = "60000", AtLeast(0);
    fixed Int "log.flush.start.offset.checkpoint.interval.ms" = "60000", AtLeast(0);
    hidden Long "log.initial.task.delay.ms" = "30000", AtLeast(0);
    cluster Int "max.connection.creation.rate" = "2147483647", AtLeast(0);
    cluster String "max.connections.per.ip.overrides" = "", Any;
    fixed String "metadata.log.dir" = unset, Any;
    fixed Long "metadata.log.max.record.bytes.between.snapshots" = "20971520", AtLeast(1);
    fixed Long "metadata.log.max.snapshot.interval.ms" = "3600000", AtLeast(0);
    fixed Int "metadata.log.segment.bytes" = "1073741824", AtLeast(8_388_608);
    fixed Long "metadata.log.segment.ms" = "604800000", Any;
    fixed Int "metadata.max.idle.interval.ms" = "500", AtLeast(0);
    fixed Long "metadata.max.retention.bytes" = "104857600", Any;
    fixed Long "metadata.max.retention.ms" = "604800000", Any;
    cluster List "metric.reporters" = "", Any;
    fixed Int "metrics.num.samples" = "2", AtLeast(1);
    fixed String "metrics.recording.level" = "INFO", Any;
    fixed Long "metrics.sample.window.ms" = "30000", AtLeast(1);
    cluster Int "num.io.threads" = "8", AtLeast(1);
    cluster Int "num.network.threads" = "3", AtLeast(1);
    cluster Int "num.recovery.threads.per.data.dir" = "2", AtLeast(1);
    fixed Int "num.replica.alter.log.dirs.threads" = unset, Any;
    cluster Int "num.replica.fetchers" = "1", AtLeast(1);
    fixed Int "offsets.commit.timeout.ms" = "5000", AtLeast(1);
    fixed Int "offsets.load.buffer.size" = "5242880", AtLeast(1);
    fixed Int "offsets.topic.compression.codec" = "0", Any;
    fixed Int "offsets.topic.num.partitions" = "50", AtLeast(1);
    fixed Short "offsets.topic.replication.factor" = "3", AtLeast(1);
    fixed Int "offsets.topic.segment.bytes" = "104857600", AtLeast(1);
    broker Class "principal.builder.class" = unset, Any;
    fixed List "process.roles" = unset, Any;
    fixed Int "producer.purgatory.purge.interval.requests" = "1000", Any;
    fixed Long "queued.max.request.bytes" = "-1", Any;
    fixed Int "quota.window.num" = "11", AtLeast(1);
    fixed Int "quota.window.size.seconds" = "1", AtLeast(1);
    cluster Int "remote.fetch.max.wait.ms" = "500", AtLeast(1);
    cluster Long "remote.list.offsets.request.timeout.ms" = "30000", AtLeast(1);
    cluster Long "remote.log.index.file.cache.total.size.bytes" = "1073741824", AtLeast(1);
    hidden Long "remote.log.index.file.cache.ttl.ms" = "900000", AtLeast(-1);
    cluster Int "remote.log.manager.copier.thread.pool.size" = "10", AtLeast(1);
    cluster Long "remote.log.manager.copy.max.bytes.per.second" = "9223372036854775807", AtLeast(1);
    fixed Int "remote.log.manager.copy.quota.window.num" = "11", AtLeast(1);
    fixed Int "remote.log.manager.copy.quota.window.size.seconds" = "1", AtLeast(1);
    cluster Int "remote.log.manager.expiration.thread.pool.size" = "10", AtLeast(1);
    cluster Long "remote.log.manager.fetch.max.bytes.per.second" = "9223372036854775807", AtLeast(1);
    fixed Int "remote.log.manager.fetch.quota.window.num" = "11", AtLeast(1);
    fixed Int "remote.log.manager.fetch.quota.window.size.seconds" = "1", AtLeast(1);
    cluster Int "remote.log.manager.follower.thread.pool.size" = "2", AtLeast(1);
    fixed Long "remote.log.manager.task.interval.ms" = "30000", AtLeast(1);
    hidden Long "remote.log.manager.task.retry.backoff.max.ms" = "30000", AtLeast(1);
    hidden Long "remote.log.manager.task.retry.backoff.ms" = "500", AtLeast(1);
    hidden Double "remote.log.manager.task.retry.jitter" = "0.2", Any;
    fixed Int "remote.log.manager.thread.pool.size" = "2", AtLeast(1);
    fixed Int "remote.log.metadata.custom.metadata.max.bytes" = "128", AtLeast(0);
    fixed String "remote.log.metadata.manager.class.name" = unset, Any;
    fixed String "remote.log.metadata.manager.class.path" = unset, Any;
    fixed String "remote.log.metadata.manager.impl.prefix" = "rlmm.config.", Any;
    fixed String "remote.log.metadata.manager.listener.name" = unset, Any;
    fixed Int "remote.log.reader.max.pending.tasks" = "100", AtLeast(1);
    cluster Int "remote.log.reader.threads" = "10", AtLeast(1);
    fixed String "remote.log.storage.manager.class.name" = unset, Any;
    fixed String "remote.log.storage.manager.class.path" = unset, Any;
    fixed String "remote.log.storage.manager.impl.prefix" = "rsm.config.", Any;
    fixed Boolean "remote.log.storage.system.enable" = "false", Any;
    fixed Int "replica.fetch.backoff.ms" = "1000", AtLeast(0);
    fixed Int "replica.fetch.max.bytes" = "1048576", AtLeast(0);
    fixed Int "replica.fetch.min.bytes" = "1", Any;
    fixed Int "replica.fetch.response.max.bytes" = "10485760", AtLeast(0);
    fixed Int "replica.fetch.wait.max.ms" = "500", Any;
    fixed Long "replica.high.watermark.checkpoint.interval.ms" = "5000", Any;
    fixed Long "replica.lag.time.max.ms" = "30000", Any;
    fixed String "replica.selector.class" = unset, Any;
    fixed Int "replica.socket.receive.buffer.bytes" = "65536", Any;
    fixed Int "replica.socket.timeout.ms" = "30000", Any;
    fixed Int "replication.quota.window.num" = "11", AtLeast(1);
    fixed Int "replication.quota.window.size.seconds" = "1", AtLeast(1);
    fixed Int "request.timeout.ms" = "30000", Any;
    fixed Class "sasl.client.callback.handler.class" = unset, Any;
    broker List "sasl.enabled.mechanisms" = "GSSAPI", Any;
    broker Password "sasl.jaas.config" = unset, Any;
    broker String "sasl.kerberos.kinit.cmd" = unset, Any;
    broker Long "sasl.kerberos.min.time.before.relogin" = "60000", Any;
    broker List "sasl.kerberos.principal.to.local.rules" = "DEFAULT", Any;
    broker String "sasl.kerberos.service.name" = unset, Any;
    broker Double "sasl.kerberos.ticket.renew.jitter" = "0.05", Any;
    broker Double "sasl.kerberos.ticket.renew.window.factor" = "0.8", Any;
    fixed Class "sasl.login.callback.handler.class" = unset, Any;
    fixed Class "sasl.login.class" = unset, Any;
    fixed Int "sasl.login.connect.timeout.ms" = unset, Any;
    fixed Int "sasl.login.read.timeout.ms" = unset, Any;
    broker Short "sasl.login.refresh.buffer.seconds" = "300", Any;
    broker Short "sasl.login.refresh.min.period.seconds" = "60", Any;
    broker Double "sasl.login.refresh.window.factor" = "0.8", Any;
    broker Double "sasl.login.refresh.window.jitter" = "0.05", Any;
    fixed Long "sasl.login.retry.backoff.max.ms" = "10000", Any;
    fixed Long "sasl.login.retry.backoff.ms" = "100", Any;
    fixed String "sasl.mechanism.controller.protocol" = "GSSAPI", Any;
    broker String "sasl.mechanism.inter.broker.protocol" = "GSSAPI", Any;
    fixed Boolean "sasl.oauthbearer.allow.unverified.audience" = "false", Any;
    fixed Boolean "sasl.oauthbearer.allow.unverified.issuer" = "false", Any;
    fixed String "sasl.oauthbearer.assertion.algorithm" = "RS256", Any;
    fixed String "sasl.oauthbearer.assertion.claim.aud" = unset, Any;
    fixed Int "sasl.oauthbearer.assertion.claim.exp.seconds" = "300", Between(0, 86_400);
    fixed String "sasl.oauthbearer.assertion.claim.iss" = unset, Any;
    fixed Boolean "sasl.oauthbearer.assertion.claim.jti.include" = "false", Any;
    fixed Int "sasl.oauthbearer.assertion.claim.nbf.seconds" = "60", Between(0, 3600);
    fixed String "sasl.oauthbearer.assertion.claim.sub" = unset, Any;
    fixed String "sasl.oauthbearer.assertion.file" = unset, Any;
    fixed String "sasl.oauthbearer.assertion.private.key.file" = unset, Any;
    fixed Password "sasl.oauthbearer.assertion.private.key.passphrase" = unset, Any;
    fixed String "sasl.oauthbearer.assertion.template.file" = unset, Any;
    fixed String "sasl.oauthbearer.client.credentials.client.id" = unset, Any;
    fixed Password "sasl.oauthbearer.client.credentials.client.secret" = unset, Any;
    fixed Int "sasl.oauthbearer.clock.skew.seconds" = "30", Any;
    fixed List "sasl.oauthbearer.expected.audience" = "", Any;
    fixed String "sasl.oauthbearer.expected.issuer" = unset, Any;
    fixed Long "sasl.oauthbearer.jwks.endpoint.refresh.ms" = "3600000", Any;
    fixed Long "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms" = "10000", Any;
    fixed Long "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms" = "100", Any;
    fixed String "sasl.oauthbearer.jwks.endpoint.url" = unset, Any;
    fixed Class "sasl.oauthbearer.jwt.retriever.class" = unset, Any;
    fixed Class "sasl.oauthbearer.jwt.validator.class" = unset, Any;
    fixed String "sasl.oauthbearer.scope" = unset, Any;
    fixed String "sasl.oauthbearer.scope.claim.name" = "scope", Any;
    fixed String "sasl.oauthbearer.sub.claim.name" = "sub", Any;
    fixed String "sasl.oauthbearer.token.endpoint.url" = unset, Any;
    fixed Class "sasl.server.callback.handler.class" = unset, Any;
    fixed Int "sasl.server.max.receive.size" = "524288", Any;
    fixed String "security.inter.broker.protocol" = "PLAINTEXT", Any;
    fixed String "security.providers" = unset, Any;
    hidden Long "server.max.startup.time.ms" = "9223372036854775807", AtLeast(0);
    fixed Int "share.coordinator.append.linger.ms" = "-1", AtLeast(-1);
    cluster Int "share.coordinator.cached.buffer.max.bytes" = "1048588", AtLeast(524_288);
    hidden Int "share.coordinator.cold.partition.snapshot.interval.ms" = "300000", AtLeast(1);
    fixed Int "share.coordinator.load.buffer.size" = "5242880", AtLeast(1);
    fixed Int "share.coordinator.snapshot.update.records.per.snapshot" = "500", Between(0, 500);
    fixed Int "share.coordinator.state.topic.compression.codec" = "0", Any;
    fixed Short "share.coordinator.state.topic.min.isr" = "2", AtLeast(1);
    fixed Int "share.coordinator.state.topic.num.partitions" = "50", AtLeast(1);
    hidden Int "share.coordinator.state.topic.prune.interval.ms" = "300000", AtLeast(1);
    fixed Short "share.coordinator.state.topic.replication.factor" = "3", AtLeast(1);
    fixed Int "share.coordinator.state.topic.segment.bytes" = "104857600", AtLeast(1);
    fixed Int "share.coordinator.threads" = "1", AtLeast(1);
    fixed Int "share.coordinator.write.timeout.ms" = "5000", AtLeast(1);
    fixed Int "share.fetch.purgatory.purge.interval.requests" = "1000", Any;
    fixed Long "socket.connection.setup.timeout.max.ms" = "30000", Any;
    fixed Long "socket.connection.setup.timeout.ms" = "10000", Any;
    fixed Int "socket.listen.backlog.size" = "50", AtLeast(1);
    fixed Int "socket.receive.buffer.bytes" = "102400", Any;
    fixed Int "socket.send.buffer.bytes" = "102400", Any;
    fixed Boolean "ssl.allow.dn.changes" = "false", Any;
    fixed Boolean "ssl.allow.san.changes" = "false", Any;
    broker List "ssl.cipher.suites" = "", Any;
    broker String "ssl.client.auth" = "none", Any;
    broker List "ssl.enabled.protocols" = "TLSv1.2,TLSv1.3", Any;
    broker String "ssl.endpoint.identification.algorithm" = "https", Any;
    broker Class "ssl.engine.factory.class" = unset, Any;
    broker Password "ssl.key.password" = unset, Any;
    broker String "ssl.keymanager.algorithm" = "SunX509", Any;
    broker Password "ssl.keystore.certificate.chain" = unset, Any;
    broker Password "ssl.keystore.key" = unset, Any;
    broker String "ssl.keystore.location" = unset, Any;
    broker Password "ssl.keystore.password" = unset, Any;
    broker String "ssl.keystore.type" = "JKS", Any;
    fixed String "ssl.principal.mapping.rules" = "DEFAULT", Any;
    broker String "ssl.protocol" = "TLSv1.3", Any;
    broker String "ssl.provider" = unset, Any;
    broker String "ssl.secure.random.implementation" = unset, Any;
    broker String "ssl.trustmanager.algorithm" = "PKIX", Any;
    broker Password "ssl.truststore.certificates" = unset, Any;
    broker String "ssl.truststore.location" = unset, Any;
    broker Password "ssl.truststore.password" = unset, Any;
    broker String "ssl.truststore.type" = "JKS", Any;
    fixed Int "telemetry.max.bytes" = "1048576", AtLeast(1);
    cluster Boolean "transaction.partition.verification.enable" = "true", Any;
    fixed Int "transaction.state.log.load.buffer.size" = "5242880", AtLeast(1);
    fixed Int "transaction.state.log.min.isr" = "2", AtLeast(1);
    fixed Int "transaction.state.log.num.partitions" = "50", AtLeast(1);
    fixed Short "transaction.state.log.replication.factor" = "3", AtLeast(1);
    fixed Int "transaction.state.log.segment.bytes" = "104857600", AtLeast(1);
    hidden Long "unclean.leader.election.interval.ms" = "300000", AtLeast(1);
    hidden Boolean "unstable.feature.versions.enable" = "false", Any;
}

/// Keys of older releases of Kafka, and of parts of it that bring their own.
const OTHERS: &[&str] = &[
    "advertised.host.name",
    "advertised.port",
    "allow.everyone.if.no.acl.found",
    "broker.id.generation.enable",
    "control.plane.listener.name",
    "controlled.shutdown.max.retries",
    "controlled.shutdown.retry.backoff.ms",
    "delegation.token.master.key",
    "eligible.leader.replicas.enable",
    "group.coordinator.new.enable",
    "group.share.enable",
    "host.name",
    "inter.broker.protocol.version",
    "leader.imbalance.per.broker.percentage",
    "log.message.downconversion.enable",
    "log.message.format.version",
    "log.message.timestamp.difference.max.ms",
    "offsets.commit.required.acks",
    "port",
    "quota.consumer.default",
    "quota.producer.default",
    "reserved.broker.max.id",
    "super.users",
    "unstable.metadata.versions.enable",
];

/// Beginnings of keys that are made up of a name and another key, or belong to a part that is not here.
const PREFIXES: &[&str] =
    &["config.providers.", "listener.name.", "password.encoder.", "rlmm.config.", "rsm.config.", "zookeeper."];

/// Keys that promise a protection which this server does not give.
const PROTECTIONS: &[&str] = &["authorizer.class.name", "listener.name.", "sasl.", "ssl.", "super.users"];

/// The row of a key without effect.
pub(super) fn row(name: &str) -> Option<&'static Key> {
    KNOWN_WITHOUT_EFFECT.iter().find(|key| key.name == name)
}

/// Whether Kafka knows a key of this name, now or formerly, that has no effect here.
pub(super) fn is_known(name: &str) -> bool {
    row(name).is_some() || OTHERS.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether whoever sets this key relies on authentication, encryption or authorization.
pub(super) fn is_protection(name: &str) -> bool {
    PROTECTIONS.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::BROKER_KEYS;

    #[test]
    fn a_key_has_an_effect_or_none_but_not_both() {
        for pair in KNOWN_WITHOUT_EFFECT.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} stands before {}", pair[0].name, pair[1].name);
        }
        for key in BROKER_KEYS {
            assert!(!is_known(key.name), "{} is in both tables", key.name);
        }
    }

    #[test]
    fn a_default_is_a_value_of_its_key() {
        for key in KNOWN_WITHOUT_EFFECT {
            if let Some(default) = key.default {
                assert_eq!(key.check(default), Ok(()), "{}", key.name);
            }
        }
    }

    #[test]
    fn old_and_composed_keys_are_known_too() {
        for name in ["zookeeper.connect", "listener.name.internal.ssl.keystore.location", "num.network.threads"] {
            assert!(is_known(name), "{name}");
        }
        assert!(!is_known("num.network.thread"));
        assert!(is_protection("ssl.keystore.location") && !is_protection("num.io.threads"));
    }
}

package streamkeeper;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Produced;

/**
 * Counts words with a streams group while the server it talks to is killed and started again.
 *
 * <p>Prints {@code STARTED} once the application runs, {@code HALFWAY} after half of the lines are acknowledged, and at
 * the end {@code COUNTS word=count …} as the output topic tells them. Exits with 0 if every acknowledged word was
 * counted at least once and no count went missing.
 */
public final class WordCount {
    private static final String[] WORDS = {"tea", "milk", "sugar", "lemon", "honey", "mint", "ice"};
    private static final int PARTITIONS = 4;
    private static final Duration PATIENCE = Duration.ofSeconds(120);

    private final String bootstrap;
    private final String application;
    private final Path stateDir;
    private final String input;
    private final String output;

    private WordCount(String bootstrap, String application, Path stateDir) {
        this.bootstrap = bootstrap;
        this.application = application;
        this.stateDir = stateDir;
        this.input = application + "-in";
        this.output = application + "-out";
    }

    public static void main(String[] args) throws Exception {
        if (args.length != 3) {
            System.err.println("usage: WordCount BOOTSTRAP APPLICATION_ID LINES");
            System.exit(2);
        }
        Path stateDir = Files.createTempDirectory("word-count");
        boolean ok = new WordCount(args[0], args[1], stateDir).run(Integer.parseInt(args[2]));
        System.exit(ok ? 0 : 1);
    }

    private boolean run(int lines) throws Exception {
        createTopics();
        Map<String, Long> expected = new TreeMap<>();
        try (KafkaStreams streams = new KafkaStreams(topology(), settings())) {
            streams.start();
            awaitRunning(streams);
            System.out.println("STARTED");
            produce(lines, expected);
            Map<String, Long> counted = awaitCounts(expected);
            System.out.println("COUNTS " + counted);
            if (!counted.equals(expected)) {
                System.out.println("EXPECTED " + expected);
            }
            return hasAll(counted, expected);
        }
    }

    private void createTopics() throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            List<NewTopic> topics = List.of(new NewTopic(input, PARTITIONS, (short) 1), new NewTopic(output, PARTITIONS, (short) 1));
            admin.createTopics(topics).all().get(60, TimeUnit.SECONDS);
        }
    }

    private org.apache.kafka.streams.Topology topology() {
        StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream(input)
            .flatMapValues(line -> Arrays.asList(line.split(" ")))
            .groupBy((key, word) -> word, Grouped.with(Serdes.String(), Serdes.String()))
            .count()
            .toStream()
            .to(output, Produced.with(Serdes.String(), Serdes.Long()));
        return builder.build();
    }

    private Properties settings() {
        Properties settings = new Properties();
        settings.put("application.id", application);
        settings.put("bootstrap.servers", bootstrap);
        settings.put("group.protocol", "streams");
        settings.put("state.dir", stateDir.toString());
        settings.put("num.stream.threads", "2");
        settings.put("commit.interval.ms", "100");
        settings.put("default.key.serde", Serdes.StringSerde.class.getName());
        settings.put("default.value.serde", Serdes.StringSerde.class.getName());
        return settings;
    }

    private static void awaitRunning(KafkaStreams streams) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (streams.state() != KafkaStreams.State.RUNNING) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("not RUNNING within " + PATIENCE + " but " + streams.state());
            }
            Thread.sleep(50);
        }
    }

    private void produce(int lines, Map<String, Long> expected) throws Exception {
        Map<String, Object> settings = Map.of(
            "bootstrap.servers", bootstrap,
            "key.serializer", StringSerializer.class,
            "value.serializer", StringSerializer.class,
            "linger.ms", 5,
            "delivery.timeout.ms", 120_000);
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings)) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int line = 0; line < lines; line++) {
                String first = WORDS[line % WORDS.length];
                String second = WORDS[(line * 5 + 3) % WORDS.length];
                sent.add(producer.send(new ProducerRecord<>(input, Integer.toString(line), first + " " + second)));
                expected.merge(first, 1L, Long::sum);
                expected.merge(second, 1L, Long::sum);
                if (line == lines / 2) {
                    producer.flush();
                    System.out.println("HALFWAY");
                }
                Thread.sleep(2);
            }
            for (Future<RecordMetadata> one : sent) {
                one.get(120, TimeUnit.SECONDS);
            }
        }
    }

    /** The last count of each word in the output topic, once it has reached what is expected. */
    private Map<String, Long> awaitCounts(Map<String, Long> expected) {
        Map<String, Object> settings = Map.of(
            "bootstrap.servers", bootstrap,
            "key.deserializer", StringDeserializer.class,
            "value.deserializer", LongDeserializer.class,
            "auto.offset.reset", "earliest");
        Map<String, Long> counted = new TreeMap<>();
        try (KafkaConsumer<String, Long> consumer = new KafkaConsumer<>(settings)) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (PartitionInfo partition : consumer.partitionsFor(output)) {
                partitions.add(new TopicPartition(output, partition.partition()));
            }
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (!hasAll(counted, expected) && System.nanoTime() < deadline) {
                ConsumerRecords<String, Long> records = consumer.poll(Duration.ofMillis(200));
                records.forEach(record -> counted.merge(record.key(), record.value(), Math::max));
            }
        }
        return counted;
    }

    private static boolean hasAll(Map<String, Long> counted, Map<String, Long> expected) {
        return expected.entrySet().stream().allMatch(word -> counted.getOrDefault(word.getKey(), 0L) >= word.getValue());
    }
}

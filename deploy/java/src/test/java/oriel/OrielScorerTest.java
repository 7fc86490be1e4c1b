package oriel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;
import org.junit.jupiter.api.Test;

class OrielScorerTest {
  private static final String DESCRIPTOR = """
      {"operator":"coco","vector":{"version":1,"dimension":4,"bias":true,"norm":"unit",
      "ranges":[{"name":"hour","low":0,"high":24,"cyclic":true}]},"predicts":"log-odds",
      "noise":{"steps":[1,2,1024],"deviations":[3,2,0.5]}}""";

  private static String decision(long step, double... weights) {
    return "{\"stream\":\"trips\",\"step\":" + step + ",\"decision\":" + java.util.Arrays.toString(weights) + ",\"unit\":\"event\"}";
  }

  /** Vectors are those of Go, to the bit, on the file that all implementations read. */
  @Test
  void committedVectors() throws Exception {
    List<?> cases = (List<?>) new OrielScorer.Json(Files.readString(Path.of("../../schemas/testdata/hashing.json"))).read();
    assertTrue(cases.size() > 100);
    for (Object each : cases) {
      Map<?, ?> c = (Map<?, ?>) each;
      String ranges = ((List<?>) c.get("ranges")).stream().map(r -> json((Map<?, ?>) r)).collect(Collectors.joining(",", "[", "]"));
      OrielScorer scorer = new OrielScorer("{\"vector\":{\"version\":1,\"dimension\":" + c.get("dimension") + ",\"bias\":"
          + c.get("bias") + ",\"norm\":\"" + c.get("norm") + "\",\"ranges\":" + ranges + "}}");
      Map<String, Object> features = new LinkedHashMap<>();
      for (Object f : (List<?>) c.get("features")) {
        features.put((String) ((List<?>) f).get(0), ((List<?>) f).get(1));
      }
      OrielScorer.Vector v = scorer.vector(features);
      assertArrayEquals(((List<?>) c.get("indices")).stream().mapToInt(x -> ((Double) x).intValue()).toArray(), v.indices());
      assertArrayEquals(((List<?>) c.get("values")).stream().mapToLong(x -> Double.doubleToRawLongBits((Double) x)).toArray(),
          java.util.Arrays.stream(v.values()).mapToLong(Double::doubleToRawLongBits).toArray(), c.toString());
    }
  }

  /** Vectors of raw records are those of Go, to the bit, on the file that all implementations read. */
  @Test
  @SuppressWarnings("unchecked")
  void committedVectorsOfRawRecords() throws Exception {
    List<?> cases = (List<?>) new OrielScorer.Json(Files.readString(Path.of("../../schemas/testdata/mapping.json"))).read();
    OrielScorer hashes = new OrielScorer("{\"vector\":{\"version\":1,\"dimension\":32,\"bias\":true,\"norm\":\"unit\",\"ranges\":["
        + "{\"name\":\"hour\",\"low\":0,\"high\":24,\"cyclic\":true},{\"name\":\"total\",\"low\":0,\"high\":500}]}}");
    int events = 0;
    for (Object each : cases) {
      Map<String, Object> c = (Map<String, Object>) each;
      Mapping mapping = new Mapping((Map<String, Object>) c.get("map"));
      for (Object one : (List<?>) c.get("records")) {
        Map<String, Object> r = (Map<String, Object>) one;
        Map<String, Object> record = (Map<String, Object>) r.get("record");
        if ("feature_overflow".equals(r.get("code"))) {
          assertThrows(ArithmeticException.class, () -> hashes.vector(mapping.features(record)), r.toString());
          continue;
        }
        if (r.containsKey("code")) {
          assertThrows(Mapping.Fault.class, () -> mapping.features(record), r.toString());
          continue;
        }
        Map<String, Object> features = mapping.features(record);
        Map<String, Object> printed = new LinkedHashMap<>(features); // JSON has no sign of zero
        printed.replaceAll((name, x) -> x instanceof Double d ? (Object) (d + 0.0) : x);
        assertEquals(r.get("features").toString(), printed.toString(), r.toString());
        OrielScorer.Vector v = hashes.vector(features);
        assertArrayEquals(((List<?>) r.get("indices")).stream().mapToInt(x -> ((Double) x).intValue()).toArray(), v.indices());
        assertArrayEquals(((List<?>) r.get("values")).stream().mapToLong(x -> Double.doubleToRawLongBits((Double) x)).toArray(),
            java.util.Arrays.stream(v.values()).mapToLong(Double::doubleToRawLongBits).toArray(), r.toString());
        events++;
      }
    }
    assertTrue(events > 60);
  }

  /** An event in Oriel's own form has the score of its features. */
  @Test
  void eventsInTheOwnForm() {
    OrielScorer scorer = new OrielScorer(DESCRIPTOR);
    scorer.take(decision(2, 1, 2, 3, 4));
    Map<String, ?> features = Map.of("hour", 3, "carrier", "UA");
    assertEquals(scorer.score("trips", features), scorer.score("trips", Map.of("features", features, "label", 1)));
    assertThrows(IllegalArgumentException.class, () -> scorer.score("trips", Map.of("features", features, "id", 1)));
  }

  /** Members without a path are refused by name alone; labels are known, and change nothing. */
  @Test
  void unknownMembersAreRefused() {
    String map = ",\"map\":{\"label\":\"late>15\",\"features\":[\"hour\",\"/order/income:number\"],\"members\":[\"weight=w\"]}}";
    OrielScorer scorer = new OrielScorer(DESCRIPTOR.substring(0, DESCRIPTOR.length() - 1) + map);
    scorer.take(decision(2, 1, 2, 3, 4));
    Map<String, Object> plain = Map.of("hour", 3, "order", Map.of("income", "1200"));
    double want = scorer.score("trips", plain).value();
    Map<String, Object> labelled = new LinkedHashMap<>(plain);
    labelled.put("late", 20);
    labelled.put("w", 2);
    assertEquals(want, scorer.score("trips", labelled).value(), 0);
    Map<String, Object> more = new LinkedHashMap<>(Map.of("hour", 3, "id", "secret", "order", Map.of("income", 1200, "incom", 1)));
    String said = assertThrows(IllegalArgumentException.class, () -> scorer.score("trips", more)).getMessage();
    assertTrue(said.contains("/id") && said.contains("/order/incom") && !said.contains("/income") && !said.contains("secret"), said);
    assertEquals(want, scorer.ignoreUnknown().score("trips", more).value(), 0);
    more.put("order", Map.of("income", "n/a"));
    said = assertThrows(IllegalArgumentException.class, () -> scorer.score("trips", more)).getMessage();
    assertEquals("feature income: not a number", said);
  }

  private static String json(Map<?, ?> range) {
    return "{\"name\":\"" + range.get("name") + "\",\"low\":" + range.get("low") + ",\"high\":" + range.get("high")
        + ",\"cyclic\":" + range.get("cyclic") + "}";
  }

  /** Noise of a vector of norm 1 is that of a weight; a lone surrogate and an infinite number are refused by name alone. */
  @Test
  void scoresAndRefusals() {
    OrielScorer scorer = new OrielScorer(DESCRIPTOR);
    assertNull(scorer.score("trips", Map.of("hour", 3)));
    scorer.take(decision(2, 1, 2, 3, 4));
    OrielScorer.Score s = scorer.score("trips", Map.of("hour", 3));
    assertEquals(2, s.step());
    assertEquals(2, s.deviation(), 1e-12);
    assertEquals(1 / (1 + Math.exp(-s.value())), s.prediction(), 0);
    scorer.take(decision(32, 1, 2, 3, 4)); // 2^5 of 2^1 ... 2^10: 4/9 of the way
    assertEquals(2 * Math.pow(0.25, 4.0 / 9), scorer.score("trips", Map.of()).deviation(), 1e-12);
    for (Object bad : new Object[] {"secret\ud800", Double.POSITIVE_INFINITY, List.of("secret")}) {
      String said = assertThrows(IllegalArgumentException.class, () -> scorer.vector(Map.of("name", bad))).getMessage();
      assertTrue(said.contains("name"));
      assertFalse(said.contains("secret"));
    }
    assertThrows(ArithmeticException.class, () -> scorer.vector(Map.of("x", 1e300)));
    assertThrows(IllegalArgumentException.class, () -> scorer.take(decision(3, 1)));
  }

  /** A band is around the value; of log-odds it is the labels that are likely enough, as Go has them (cmd/internal/score). */
  @Test
  void bands() {
    String vector = "{\"vector\":{\"version\":1,\"dimension\":1,\"bias\":true,\"norm\":\"none\"},\"predicts\":";
    // The bias has the sign -1, so that the value is 2.
    String ends = "{\"stream\":\"trips\",\"step\":3,\"decision\":[-2],\"band_low\":-1.5,\"band_high\":%s,\"band_level\":0.9}";
    OrielScorer mean = new OrielScorer(vector + "\"mean\"}");
    mean.take(String.format(ends, "4"));
    assertEquals(new OrielScorer.Band(0.5, 6, null, 0.9), mean.score("trips", Map.of()).band());
    OrielScorer classes = new OrielScorer(vector + "\"log-odds\"}");
    classes.take(String.format(ends, "0.5"));
    assertEquals(List.of(1), classes.score("trips", Map.of()).band().labels());
    classes.take(String.format(ends, "0.9"));
    assertEquals(List.of(-1, 1), classes.score("trips", Map.of()).band().labels());
    classes.take(decision(4, 2));
    assertNull(classes.score("trips", Map.of()).band());
  }

  /** A Kafka Streams topology scores events as they come, each with the decision that is newest then. */
  @Test
  void aTopologyScoresLive() {
    OrielScorer scorer = new OrielScorer(DESCRIPTOR); // one a thread; this topology has one
    StreamsBuilder builder = new StreamsBuilder();
    Consumed<String, String> texts = Consumed.with(Serdes.String(), Serdes.String());
    builder.stream("late.decisions", texts).foreach((stream, decision) -> scorer.take(decision));
    builder.stream("trips", texts)
        .mapValues(hour -> scorer.score("trips", Map.of("hour", Integer.parseInt(hour))))
        .filter((key, score) -> score != null)
        .mapValues(score -> score.step() + " " + score.prediction())
        .to("scores", Produced.with(Serdes.String(), Serdes.String()));
    Properties settings = new Properties();
    settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "scores");
    settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:9092");
    settings.put(StreamsConfig.STATE_DIR_CONFIG, System.getProperty("java.io.tmpdir") + "/oriel-scorer-test");
    try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), settings)) {
      var strings = Serdes.String();
      TestInputTopic<String, String> decisions = driver.createInputTopic("late.decisions", strings.serializer(), strings.serializer());
      TestInputTopic<String, String> trips = driver.createInputTopic("trips", strings.serializer(), strings.serializer());
      TestOutputTopic<String, String> scores = driver.createOutputTopic("scores", strings.deserializer(), strings.deserializer());
      trips.pipeInput("UA", "17");
      assertTrue(scores.isEmpty());
      for (int step = 1; step <= 2; step++) {
        decisions.pipeInput("trips", decision(step, step, 2, 3, 4));
        trips.pipeInput("UA", "17");
        double want = scorer.score("trips", Map.of("hour", 17)).prediction();
        assertEquals(step + " " + want, scores.readValue());
      }
    }
  }
}

package oriel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Scores events with the newest decision of each stream, for Kafka Streams, Flink and others on a JVM. It needs the
 * deployment's descriptor (topic {@code <name>.descriptor}) and its decisions in JSON (topic {@code <name>.decisions},
 * read with {@code isolation.level=read_committed}), and nothing else. It is not safe for concurrent use.
 *
 * <p>If the deployment has a mapping (ORIEL_MAP), the class scores raw records of its input topic, as JSON says them: maps,
 * lists, texts, numbers, truths and nulls. Labels and other members that the mapping names besides features are not read,
 * and conditions on the path of the label are left out. A record that another condition leaves out is refused, and so is a
 * record with members that the mapping does not name, unless ignoreUnknown was called. Without a mapping, the class scores
 * features, and each name is one, or events in Oriel's own form.
 */
public final class OrielScorer {
  /**
   * The score of an event. value is the inner product of features and weights, with the offset: log-odds, or what is
   * predicted. prediction is what it means: the probability of label 1, the class -1 or 1, or the value within its
   * bounds. deviation is the standard deviation of privacy's noise in value, NaN where it is not known; of a decision
   * with a deviation for each weight it takes their noise to be independent. time is milliseconds since 1970, -1 where
   * the decision does not say the greatest timestamp of its events. band is where the label is to be, null where the
   * decision has no band.
   */
  public record Score(
      String stream, long step, long time, double value, double prediction, double deviation, Band band) {}

  /**
   * Where the label is to be, for a share of all events in the long run, level. Of log-odds labels has those of -1 and 1
   * that are in the set, and the ends are NaN; else low and high are the ends, and labels is null.
   */
  public record Band(double low, double high, List<Integer> labels, double level) {}

  /** A sparse vector: distinct indices in the order in which they first appear. */
  public record Vector(int[] indices, double[] values) {}

  private record Range(double low, double high, boolean cyclic, byte[] sine, byte[] cosine) {}

  private record Model(String stream, long step, long time, double[] weights, double[] deviations, double noise,
      Band band) {}

  private final int dimension;
  private final boolean bias;
  private final boolean unit;
  private final Map<String, Range> ranges = new HashMap<>();
  private final String predicts;
  private final double offset;
  private final double[] bounds;
  private final List<String> arms = new ArrayList<>();
  private final double[] steps;
  private final double[] deviations;
  private final Map<String, Model> models = new LinkedHashMap<>();
  private final Mapping mapping; // null: none
  private boolean ignoresUnknown;

  /** Reads a descriptor. IllegalArgumentException: it is none, or one of a later version of vectors. */
  public OrielScorer(String descriptor) {
    Map<String, Object> d = object(new Json(descriptor).read());
    Map<String, Object> v = object(d.get("vector"));
    if (!Double.valueOf(1).equals(v.get("version"))) {
      throw new IllegalArgumentException("descriptor: vectors of a version that this class does not know");
    }
    dimension = ((Double) v.get("dimension")).intValue();
    bias = (Boolean) v.get("bias");
    unit = "unit".equals(v.get("norm"));
    for (Object each : list(v.getOrDefault("ranges", List.of()))) {
      Map<String, Object> r = object(each);
      String name = (String) r.get("name");
      ranges.put(name, new Range((Double) r.get("low"), (Double) r.get("high"), Boolean.TRUE.equals(r.get("cyclic")),
          utf8(name + "\0sin", name), utf8(name + "\0cos", name)));
    }
    predicts = (String) d.getOrDefault("predicts", "");
    offset = (Double) d.getOrDefault("offset", 0.0);
    bounds = d.containsKey("bounds") ? numbers(d.get("bounds")) : null;
    for (Object arm : list(d.getOrDefault("arms", List.of()))) {
      arms.add((String) arm);
    }
    Map<String, Object> noise = d.containsKey("noise") ? object(d.get("noise")) : null;
    steps = noise == null ? new double[0] : numbers(noise.get("steps"));
    deviations = noise == null ? new double[0] : numbers(noise.get("deviations"));
    mapping = d.containsKey("map") ? new Mapping(object(d.get("map"))) : null;
  }

  /** Leaves members out that the mapping does not name, as the deployment does. Returns this scorer. */
  public OrielScorer ignoreUnknown() {
    ignoresUnknown = true;
    return this;
  }

  /**
   * The features of a record, by the mapping; without one, the record itself. IllegalArgumentException: it has a member that
   * the mapping does not name, or Oriel takes the record as no event; the message names paths and rules, never a value.
   */
  public Map<String, ?> features(Map<String, ?> record) {
    if (mapping == null) {
      return own(record);
    }
    if (!ignoresUnknown) {
      mapping.checkNames(record);
    }
    return mapping.features(record);
  }

  /** The features of an event in Oriel's own form; of features, the features. */
  @SuppressWarnings("unchecked")
  private static Map<String, ?> own(Map<String, ?> event) {
    if (!(event.get("features") instanceof Map)) {
      return event;
    }
    if (!List.of("features", "label", "weight").containsAll(event.keySet())) {
      throw new IllegalArgumentException("event: a member besides features, label and weight");
    }
    return (Map<String, ?>) event.get("features");
  }

  /** Takes a decision, a JSON text. It is then the newest one of its stream. */
  public void take(String decision) {
    Map<String, Object> d = object(new Json(decision).read());
    double[] weights = point(d.get("decision"));
    if (weights.length != dimension * Math.max(1, arms.size())) {
      throw new IllegalArgumentException("decision: not of as many numbers as the descriptor says");
    }
    long step = ((Double) d.get("step")).longValue();
    String stream = (String) d.get("stream");
    models.put(stream, new Model(stream, step, ((Double) d.getOrDefault("time", -1.0)).longValue(), weights,
        d.containsKey("deviation") ? numbers(d.get("deviation")) : null, noise(step),
        d.containsKey("band_low") ? new Band((Double) d.get("band_low"), (Double) d.get("band_high"), null,
            (Double) d.get("band_level")) : null));
  }

  /** The streams that have published a decision. */
  public List<String> streams() {
    return List.copyOf(models.keySet());
  }

  /**
   * Scores a raw record or, without a mapping, features (String, Number or Boolean, in the event's order) by the newest
   * decision of a stream; null where there is none yet. ArithmeticException: a number overflows, and Oriel would take the
   * event as none. IllegalArgumentException: see features.
   */
  public Score score(String stream, Map<String, ?> record) {
    return arms.isEmpty() ? score(stream, features(record), 0) : null;
  }

  /** Scores each arm, by name; null where the stream has no decision yet. */
  public Map<String, Score> scores(String stream, Map<String, ?> record) {
    Map<String, ?> features = features(record);
    Map<String, Score> all = new LinkedHashMap<>();
    for (int i = 0; i < arms.size(); i++) {
      all.put(arms.get(i), score(stream, features, i));
    }
    return models.containsKey(stream) ? all : null;
  }

  private Score score(String stream, Map<String, ?> features, int arm) {
    Model m = models.get(stream);
    if (m == null) {
      return null;
    }
    Vector v = vector(features);
    double sum = 0;
    double squares = 0;
    for (int k = 0; k < v.values.length; k++) {
      int at = arm * dimension + v.indices[k];
      sum += v.values[k] * m.weights[at];
      double noise = v.values[k] * (m.deviations == null ? m.noise : m.deviations[at]);
      squares += noise * noise;
    }
    double value = offset + sum;
    double means = switch (predicts) {
      case "log-odds" -> 1 / (1 + Math.exp(-value));
      case "class" -> value >= 0 ? 1 : -1;
      default -> bounds == null ? value : Math.max(bounds[0], Math.min(bounds[1], value));
    };
    return new Score(m.stream, m.step, m.time, value, means, Math.sqrt(squares), band(m.band, value));
  }

  /** Where the label is to be for a value, by a band whose ends are relative to it. */
  private Band band(Band b, double value) {
    if (b == null) {
      return null;
    }
    if (!"log-odds".equals(predicts)) {
      return new Band(value + b.low, value + b.high, null, b.level);
    }
    List<Integer> labels = new ArrayList<>();
    for (int label : new int[] {-1, 1}) {
      if (1 / (1 + Math.exp(label * value)) <= b.high) {
        labels.add(label);
      }
    }
    return new Band(Double.NaN, Double.NaN, labels, b.level);
  }

  /** The vector that Oriel learns from, to the bit, of features. */
  public Vector vector(Map<String, ?> features) {
    Entries e = new Entries(features.size() * 2 + 1);
    for (Map.Entry<String, ?> f : features.entrySet()) {
      String name = f.getKey();
      byte[] token = utf8(name, name);
      if (f.getValue() instanceof Boolean truth) {
        if (truth) {
          e.add(token, 1);
        }
      } else if (f.getValue() instanceof CharSequence text) {
        e.add(utf8(name + "\0" + text, name), 1);
      } else if (f.getValue() instanceof Number number && Double.isFinite(number.doubleValue())) {
        e.number(token, number.doubleValue(), ranges.get(name));
      } else if (f.getValue() != null) {
        throw new IllegalArgumentException("feature " + name + ": neither text, finite number nor truth");
      }
    }
    if (bias) {
      e.add(new byte[0], 1);
    }
    return e.finish();
  }

  /** Collects entries with distinct indices. */
  private final class Entries {
    private final Map<Integer, Integer> places = new HashMap<>();
    private final int[] indices;
    private final double[] values;

    Entries(int most) {
      indices = new int[most];
      values = new double[most];
    }

    void number(byte[] token, double v, Range r) {
      if (r == null) {
        add(token, v);
        return;
      }
      double u = (v - r.low) / (r.high - r.low);
      if (!r.cyclic) {
        add(token, u <= 0 ? 0 : u >= 1 ? 1 : u);
        return;
      }
      double t = Double.isInfinite(u) ? 0 : u - Math.floor(u);
      double[] turn = sinCosTurn(t);
      add(r.sine, turn[0]);
      add(r.cosine, turn[1]);
    }

    void add(byte[] token, double v) {
      long h = xxh64(token);
      int index = (int) (Math.multiplyHigh(h, dimension) + (h >> 63 & dimension)); // unsigned
      v = (h & 1) == 1 ? -v : v;
      Integer place = places.putIfAbsent(index, places.size());
      if (place == null) {
        indices[places.size() - 1] = index;
        values[places.size() - 1] = 0.0 + v;
      } else {
        values[place] += v;
      }
    }

    Vector finish() {
      double[] found = java.util.Arrays.copyOf(values, places.size());
      double sum = 0;
      for (double v : found) {
        sum += v * v;
        if (!Double.isFinite(v) || unit && Double.isInfinite(sum)) {
          throw new ArithmeticException("features: a number overflows");
        }
      }
      if (unit && sum > 0) {
        double norm = Math.sqrt(sum);
        for (int k = 0; k < found.length; k++) {
          found[k] /= norm;
        }
      }
      return new Vector(java.util.Arrays.copyOf(indices, places.size()), found);
    }
  }

  private static final double[] INVERSE = inverseFactorials();

  private static double[] inverseFactorials() {
    double[] inverse = new double[18];
    double factorial = 1;
    for (int n = 0; n < inverse.length; n++) {
      factorial *= Math.max(1, n);
      inverse[n] = 1 / factorial;
    }
    return inverse;
  }

  /** Sine and cosine of a turn in [0, 1], each operation rounded by itself. */
  static double[] sinCosTurn(double t) {
    double q = Math.floor(4 * t + 0.5);
    double x = (t - q / 4) * 6.283185307179586;
    double z = x * x;
    double s = INVERSE[17];
    double c = INVERSE[16];
    for (int n = 15; n > 0; n -= 2) {
      s = INVERSE[n] - z * s;
    }
    for (int n = 14; n >= 0; n -= 2) {
      c = INVERSE[n] - z * c;
    }
    s = x * s;
    return switch ((int) q) {
      case 1 -> new double[] {c + 0.0, -s + 0.0};
      case 2 -> new double[] {-s + 0.0, -c + 0.0};
      case 3 -> new double[] {-c + 0.0, s + 0.0};
      default -> new double[] {s + 0.0, c + 0.0};
    };
  }

  /** Noise in each weight after a step: straight in the logarithms of both between two rows of the table. */
  private double noise(long step) {
    if (steps.length == 0) {
      return Double.NaN;
    }
    int i = 0;
    while (i < steps.length && steps[i] < step) {
      i++;
    }
    if (i == steps.length || i == 0 || steps[i] == step) {
      return deviations[Math.min(i, steps.length - 1)];
    }
    double share = Math.log(step / steps[i - 1]) / Math.log(steps[i] / steps[i - 1]);
    return deviations[i - 1] * Math.pow(deviations[i] / deviations[i - 1], share);
  }

  private static final long P1 = 0x9E3779B185EBCA87L;
  private static final long P2 = 0xC2B2AE3D27D4EB4FL;
  private static final long P3 = 0x165667B19E3779F9L;
  private static final long P4 = 0x85EBCA77C2B2AE63L;
  private static final long P5 = 0x27D4EB2F165667C5L;

  private static long mix(long acc, long lane) {
    return Long.rotateLeft(acc + lane * P2, 31) * P1;
  }

  /** XXH64 with seed 0. */
  static long xxh64(byte[] data) {
    ByteBuffer b = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
    long h;
    if (data.length >= 32) {
      long[] v = {P1 + P2, P2, 0, -P1};
      while (b.remaining() >= 32) {
        for (int k = 0; k < 4; k++) {
          v[k] = mix(v[k], b.getLong());
        }
      }
      h = Long.rotateLeft(v[0], 1) + Long.rotateLeft(v[1], 7) + Long.rotateLeft(v[2], 12) + Long.rotateLeft(v[3], 18);
      for (long each : v) {
        h = (h ^ mix(0, each)) * P1 + P4;
      }
    } else {
      h = P5;
    }
    h += data.length;
    while (b.remaining() >= 8) {
      h = Long.rotateLeft(h ^ mix(0, b.getLong()), 27) * P1 + P4;
    }
    if (b.remaining() >= 4) {
      h = Long.rotateLeft(h ^ Integer.toUnsignedLong(b.getInt()) * P1, 23) * P2 + P3;
    }
    while (b.hasRemaining()) {
      h = Long.rotateLeft(h ^ (b.get() & 0xFF) * P5, 11) * P1;
    }
    h = (h ^ h >>> 33) * P2;
    h = (h ^ h >>> 29) * P3;
    return h ^ h >>> 32;
  }

  private static byte[] utf8(String text, String name) {
    try {
      ByteBuffer b = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      byte[] bytes = new byte[b.remaining()];
      b.get(bytes);
      return bytes;
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("feature " + name + ": a lone surrogate, which no event can have");
    }
  }

  private static double[] point(Object decision) {
    if (decision instanceof List) {
      return numbers(decision);
    }
    Map<String, Object> sparse = object(decision); // ORIEL_DECISIONS=sparse
    double[] point = new double[((Double) sparse.get("dimension")).intValue()];
    double[] values = numbers(sparse.get("values"));
    List<?> indices = list(sparse.get("indices"));
    for (int k = 0; k < values.length; k++) {
      for (double i : numbers(indices.get(k))) {
        point[(int) i] = values[k];
      }
    }
    return point;
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> object(Object value) {
    if (value instanceof Map) {
      return (Map<String, Object>) value;
    }
    throw new IllegalArgumentException("not a descriptor or decision in JSON");
  }

  private static List<?> list(Object value) {
    return (List<?>) value;
  }

  private static double[] numbers(Object value) {
    return list(value).stream().mapToDouble(x -> (Double) x).toArray();
  }

  /** Reads JSON: objects as maps in their order, numbers as Double. */
  static final class Json {
    private final String text;
    private int i;

    Json(String text) {
      this.text = text;
    }

    Object read() {
      Object value = value();
      if (next() != '\0') {
        throw bad();
      }
      return value;
    }

    private IllegalArgumentException bad() {
      return new IllegalArgumentException("not JSON, at character " + i);
    }

    private char next() {
      while (i < text.length() && " \t\r\n".indexOf(text.charAt(i)) >= 0) {
        i++;
      }
      return i < text.length() ? text.charAt(i) : '\0';
    }

    private boolean takes(char c) {
      boolean there = next() == c;
      i += there ? 1 : 0;
      return there;
    }

    private void wants(char c) {
      if (!takes(c)) {
        throw bad();
      }
    }

    private Object value() {
      switch (next()) {
        case '{':
          i++;
          Map<String, Object> members = new LinkedHashMap<>();
          for (boolean more = !takes('}'); more; more = more(',', '}')) {
            next();
            String name = string();
            wants(':');
            members.put(name, value());
          }
          return members;
        case '[':
          i++;
          List<Object> elements = new ArrayList<>();
          for (boolean more = !takes(']'); more; more = more(',', ']')) {
            elements.add(value());
          }
          return elements;
        case '"':
          return string();
        default:
          return literal();
      }
    }

    private boolean more(char separator, char end) {
      if (takes(separator)) {
        return true;
      }
      wants(end);
      return false;
    }

    private Object literal() {
      int from = i;
      while (i < text.length() && "+-.".indexOf(text.charAt(i)) >= 0 || i < text.length() && Character.isLetterOrDigit(text.charAt(i))) {
        i++;
      }
      String word = text.substring(from, i);
      return switch (word) {
        case "true" -> Boolean.TRUE;
        case "false" -> Boolean.FALSE;
        case "null" -> null;
        default -> {
          if (word.isEmpty() || "-0123456789".indexOf(word.charAt(0)) < 0) {
            throw bad();
          }
          yield Double.valueOf(word);
        }
      };
    }

    private String string() {
      wants('"');
      StringBuilder s = new StringBuilder();
      while (i < text.length() && text.charAt(i) != '"') {
        char c = text.charAt(i++);
        if (c != '\\') {
          s.append(c);
          continue;
        }
        if (i == text.length()) {
          throw bad();
        }
        c = text.charAt(i++);
        int plain = "\"\\/bfnrt".indexOf(c);
        if (plain >= 0) {
          s.append("\"\\/\b\f\n\r\t".charAt(plain));
        } else if (c == 'u' && i + 4 <= text.length()) {
          s.append((char) Integer.parseInt(text.substring(i, i + 4), 16));
          i += 4;
        } else {
          throw bad();
        }
      }
      wants('"');
      return s.toString();
    }
  }
}

package oriel;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Features of raw records, by the mapping of a deployment (ORIEL_MAP), which the descriptor carries. The rules are those
 * of the Go package schemas/mapping for JSON records, to the bit: schemas/testdata/mapping.json has an example of each.
 * Labels and other members of events are not read, because a record to score needs none.
 */
final class Mapping {
  private static final Set<String> TIMES = Set.of("hour", "weekday", "day", "month", "seconds");
  private static final Set<String> TYPES = Set.of("number", "text", "bool", "hour", "weekday", "day", "month", "seconds");
  private static final Map<String, Long> UNITS = Map.of("s", 1L, "ms", 1_000L, "us", 1_000_000L, "ns", 1_000_000_000L);
  private static final Pattern OPERATOR = Pattern.compile("!=|>=|<=|=|>|<");
  private static final Object OTHER = new Object(); // a value that no feature can be

  private final List<Item> items = new ArrayList<>();
  private final List<Comparison> where = new ArrayList<>();
  private final Names names = new Names();

  /** The rule that makes a record no event. It never holds a value of the record. */
  static final class Fault extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    Fault(String rule) {
      super(rule);
    }
  }

  Mapping(Map<String, Object> document) {
    for (Object rule : listed(document.get("features"))) {
      Item item = Item.of(rule);
      items.add(item);
      know(item);
    }
    if (items.isEmpty()) {
      throw new IllegalArgumentException("descriptor: a mapping without named features, whose records this class cannot read");
    }
    String[] label = labelPath(document);
    if (label != null) {
      names.add(label);
    }
    for (Object text : listed(document.get("where"))) {
      Comparison test = Comparison.of((String) text);
      names.add(test.path);
      if (!Arrays.equals(test.path, label)) { // a record to score usually has no label yet
        where.add(test);
      }
    }
    for (Object rule : listed(document.get("members"))) {
      if (rule instanceof String text) {
        for (String path : text.substring(text.indexOf('=') + 1).split(",")) {
          know(Item.of(path));
        }
      } else if (rule instanceof Map<?, ?> of && of.get("from") != null) {
        listed(of.get("from")).forEach(path -> names.add(path((String) path)));
      } else {
        know(Item.of(rule));
      }
    }
  }

  /** The path of the label, which may be a member, too; null: no path gives the label. */
  private static String[] labelPath(Map<String, Object> document) {
    Object rule = document.get("label");
    if (rule instanceof String text && OPERATOR.matcher(text).find()) {
      return Comparison.of(text).path;
    }
    for (Object member : rule == null ? listed(document.get("members")) : List.of()) {
      if (member instanceof String text && text.startsWith("label=")) {
        rule = text.substring("label=".length());
      } else if (member instanceof Map<?, ?> of && "label".equals(of.get("name"))) {
        rule = member;
      }
    }
    if (rule == null) {
      return null;
    }
    Item item = Item.of(rule);
    return item.compare == null ? item.path : item.compare.path;
  }

  private void know(Item item) {
    if (item.path != null) {
      names.add(item.path);
    }
    if (item.compare != null) {
      names.add(item.compare.path);
    }
  }

  /** The features of a record. Fault: the record is no event. */
  Map<String, Object> features(Map<String, ?> record) {
    for (Comparison test : where) {
      if (!test.holds(find(record, test.path))) {
        throw new Fault("the mapping's where leaves the record out");
      }
    }
    Map<String, Object> found = new LinkedHashMap<>();
    for (Item item : items) {
      try {
        Object value = item.read(record);
        if (value != null) {
          found.put(item.name, value);
        }
      } catch (Fault f) {
        throw new Fault("feature " + item.name + ": " + f.getMessage());
      }
    }
    return found;
  }

  /** Refuses a record with members that no path of the mapping names. */
  void checkNames(Map<String, ?> record) {
    Set<String> strange = new LinkedHashSet<>();
    names.collect(record, "", strange);
    if (!strange.isEmpty()) {
      throw new IllegalArgumentException("the deployment's mapping reads no member " + String.join(", ", strange) + "; it reads "
          + String.join(", ", names.below.keySet()) + ". ignoreUnknown() leaves such members out, as the deployment does");
    }
  }

  private static List<?> listed(Object value) {
    return value == null ? List.of() : value instanceof List<?> list ? list : List.of(value);
  }

  private static String[] path(String text) {
    if (!text.startsWith("/")) {
      return new String[] {text};
    }
    String[] names = text.substring(1).split("/", -1);
    for (int i = 0; i < names.length; i++) {
      names[i] = names[i].replace("~1", "/").replace("~0", "~");
    }
    return names;
  }

  private static int index(String name) {
    return name.matches("0|[1-9][0-9]{0,8}") ? Integer.parseInt(name) : -1;
  }

  /** The value at a path: a String, a Double, a Boolean, OTHER, or null where there is none. */
  private static Object find(Object record, String[] path) {
    for (String name : path) {
      if (record instanceof Map<?, ?> members) {
        record = members.get(name);
      } else if (record instanceof List<?> list && index(name) >= 0 && index(name) < list.size()) {
        record = list.get(index(name));
      } else {
        return null;
      }
    }
    return plain(record);
  }

  private static Object plain(Object value) {
    if (value == null || value instanceof Boolean) {
      return value;
    }
    if (value instanceof CharSequence text) {
      return text.toString();
    }
    if (!(value instanceof Number number)) {
      return OTHER;
    }
    if (!Double.isFinite(number.doubleValue())) {
      throw new Fault("a number is beyond a float64");
    }
    return number.doubleValue();
  }

  /** The number of a text that is one finite decimal number, else null. */
  private static Double number(String text) {
    if (!text.matches("[0-9.eE+-]+")) {
      return null;
    }
    try {
      double x = Double.parseDouble(text);
      return Double.isFinite(x) ? x : null;
    } catch (NumberFormatException e) {
      return null;
    }
  }

  /** A number as decisions have it: the shortest digits that read back as the same number. */
  static String text(double x) {
    if (x == Math.rint(x) && Math.abs(x) < 1e15) {
      return Long.toString((long) x);
    }
    BigDecimal exact = new BigDecimal(x);
    BigDecimal d = exact;
    for (int n = 1; n <= 17; n++) {
      d = exact.round(new MathContext(n, RoundingMode.HALF_EVEN));
      if (d.doubleValue() != x) { // below a power of two fewer decimals read back than above it
        d = exact.round(new MathContext(n, RoundingMode.UP));
      }
      if (d.doubleValue() == x) {
        break;
      }
    }
    d = d.stripTrailingZeros();
    if (Math.abs(x) >= 1e-6 && Math.abs(x) < 1e21) {
      return d.toPlainString();
    }
    String all = d.unscaledValue().abs().toString();
    int exponent = d.precision() - d.scale() - 1;
    return (x < 0 ? "-" : "") + all.charAt(0) + (all.length() > 1 ? "." + all.substring(1) : "") + "e" + (exponent > 0 ? "+" : "")
        + exponent;
  }

  private record Comparison(String[] path, String operator, String constant) {
    static Comparison of(String text) {
      Matcher m = OPERATOR.matcher(text);
      if (!m.find()) {
        throw new IllegalArgumentException("descriptor: a mapping with a comparison without operator");
      }
      return new Comparison(Mapping.path(text.substring(0, m.start()).strip()), m.group(), text.substring(m.end()).strip());
    }

    /** Whether a value has an order with the constant. A text without a number has none with a number. */
    boolean compares(Object value) {
      boolean ordered = !operator.equals("=") && !operator.equals("!=");
      if (!ordered || number(constant) == null || value == null || value.equals("") || value instanceof Double) {
        return true;
      }
      return value instanceof String text && number(text) != null;
    }

    boolean holds(Object value) {
      boolean missing = value == null || value.equals("");
      if (missing || constant.isEmpty()) {
        boolean same = missing && constant.isEmpty();
        return operator.equals("=") && same || operator.equals("!=") && !same;
      }
      if (!compares(value)) {
        return false;
      }
      if (value == OTHER) {
        return operator.equals("!=");
      }
      Double limit = number(constant);
      Double mine = value instanceof Double x ? x : value instanceof String text ? number(text) : null;
      int order;
      if (limit != null && mine != null) {
        order = mine < limit ? -1 : mine > limit ? 1 : 0;
      } else {
        String text = value instanceof Double x ? Mapping.text(x) : value.toString();
        order = Arrays.compareUnsigned(text.getBytes(StandardCharsets.UTF_8), constant.getBytes(StandardCharsets.UTF_8));
      }
      return switch (operator) {
        case "=" -> order == 0;
        case "!=" -> order != 0;
        case "<" -> order < 0;
        case "<=" -> order <= 0;
        case ">" -> order > 0;
        default -> order >= 0;
      };
    }
  }

  /** The rule for one feature. */
  private record Item(String name, String[] path, Comparison compare, Object constant, String as, String unit, Calendar.Zone zone,
      double scale, double offset) {
    static Item of(Object rule) {
      if (rule instanceof String text) {
        int named = text.indexOf('=');
        String rest = named >= 0 && text.startsWith("/", named + 1) ? text.substring(named + 1) : text;
        int colon = rest.lastIndexOf(':');
        String as = colon >= 0 && TYPES.contains(rest.substring(colon + 1)) ? rest.substring(colon + 1) : "";
        String[] path = Mapping.path(as.isEmpty() ? rest : rest.substring(0, colon));
        return new Item(rest.equals(text) ? path[path.length - 1] : text.substring(0, named), path, null, null, as, "",
            Calendar.Zone.UTC, 1, 0);
      }
      Map<?, ?> of = (Map<?, ?>) rule;
      List<?> from = listed(of.get("from"));
      String[] path = from.isEmpty() ? null : Mapping.path((String) from.get(0));
      String name = of.get("name") != null ? (String) of.get("name") : path == null ? "" : path[path.length - 1];
      return new Item(name, path, of.get("compare") == null ? null : Comparison.of((String) of.get("compare")),
          plain(of.get("constant")), of.get("as") == null ? "" : (String) of.get("as"),
          of.get("epoch") == null ? "" : (String) of.get("epoch"),
          of.get("zone") == null ? Calendar.Zone.UTC : Calendar.Zone.of((String) of.get("zone")),
          of.get("scale") == null ? 1 : (Double) of.get("scale"), of.get("offset") == null ? 0 : (Double) of.get("offset"));
    }

    /** The feature of a record: a String, a Double or a Boolean; null where the record does not have it. */
    Object read(Object record) {
      Object value = compare != null ? find(record, compare.path) : path != null ? find(record, path) : constant;
      if (compare != null) {
        if (value == OTHER && !compare.constant.isEmpty()) {
          throw new Fault("a list or an object is compared with a constant");
        }
        if (!compare.compares(value)) {
          throw new Fault("a text is compared with a number");
        }
        if (value != null || compare.constant.isEmpty()) {
          value = compare.holds(value);
        }
      }
      return value == null ? null : converted(value);
    }

    private Object converted(Object value) {
      boolean scales = scale != 1 || offset != 0;
      String kind = as.isEmpty() && scales ? "number" : as;
      if (value == OTHER) {
        throw new Fault("a list or an object");
      }
      if (TIMES.contains(kind)) {
        value = part(value);
      } else if (kind.equals("bool") && !(value instanceof Boolean)) {
        if (!value.equals("true") && !value.equals("false")) {
          throw new Fault("neither true nor false");
        }
        value = value.equals("true");
      } else if (kind.equals("number")) {
        if (value instanceof String text) {
          value = number(text);
        } else if (value instanceof Boolean is) {
          value = is ? 1.0 : 0.0;
        }
        if (value == null) {
          throw new Fault("not a number");
        }
      }
      if (scales) {
        double x = (Double) value * scale + offset;
        if (!Double.isFinite(x)) {
          throw new Fault("a scaled number is beyond a float64");
        }
        value = x;
      }
      if (!kind.equals("text")) {
        return value;
      }
      return value instanceof Double x ? text(x) : value.toString();
    }

    /** The part of a time, which is a text of ISO 8601 or a number that counts from the epoch. */
    private double part(Object value) {
      Double count = value instanceof Double x ? x : value instanceof String text && !unit.isEmpty() ? number(text) : null;
      Calendar.Instant at;
      if (value instanceof Boolean || count != null && unit.isEmpty()) {
        throw new Fault("not a time");
      } else if (count == null) {
        at = Calendar.instant((String) value);
      } else if (unit.equals("d")) {
        double seconds = count * Calendar.DAY;
        at = count != Math.rint(count) || !Calendar.holds(seconds) ? null : new Calendar.Instant((long) seconds, 0, true);
      } else {
        at = Calendar.holds(count / UNITS.get(unit)) ? Calendar.count(new BigDecimal(Math.floor(count)), UNITS.get(unit)) : null;
      }
      if (at == null || !Calendar.holds(at.seconds())) {
        throw new Fault("not a time");
      }
      if (as.equals("seconds")) {
        return count != null && !at.local() ? count / UNITS.get(unit) : zone.since1970(at);
      }
      return zone.part(at, as);
    }
  }

  /** The names of members that a mapping knows, and those below each. */
  private static final class Names {
    final Map<String, Names> below = new LinkedHashMap<>();
    private boolean whole; // a path ends here, so that all below is known

    void add(String[] path) {
      Names at = this;
      for (String name : path) {
        at = at.below.computeIfAbsent(name, n -> new Names());
      }
      at.whole = true;
    }

    void collect(Object record, String path, Set<String> strange) {
      if (record instanceof Map<?, ?> members) {
        for (Map.Entry<?, ?> member : members.entrySet()) {
          String name = String.valueOf(member.getKey());
          String at = path + "/" + name.replace("~", "~0").replace("/", "~1");
          if (!below.containsKey(name)) {
            strange.add(at);
          } else if (!below.get(name).whole) {
            below.get(name).collect(member.getValue(), at, strange);
          }
        }
      } else if (record instanceof List<?> list) {
        for (Map.Entry<String, Names> known : below.entrySet()) {
          int i = index(known.getKey());
          if (i >= 0 && i < list.size() && !known.getValue().whole) {
            known.getValue().collect(list.get(i), path + "/" + i, strange);
          }
        }
      }
    }
  }
}

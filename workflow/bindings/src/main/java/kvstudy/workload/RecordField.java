package kvstudy.workload;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import site.ycsb.WorkloadException;

/** A field of a record: its name, what its values look like, and how long they are. */
final class RecordField {
  private static final Pattern FORM =
      Pattern.compile("([a-z][a-z0-9_]*):(text|number):(\\d{1,6})-(\\d{1,6})");
  private static final double ZIPFIAN = 0.99;

  enum Kind {
    /** Any printable characters of ASCII. */
    TEXT,
    /** A whole number, written with digits and without leading zeros. */
    NUMBER
  }

  final String name;
  final Kind kind;
  final int shortest;
  final int longest;

  /** Share of the values that are at most {@code shortest + i} bytes long. */
  private final double[] cumulated;

  private RecordField(String name, Kind kind, int shortest, int longest, String distribution)
      throws WorkloadException {
    this.name = name;
    this.kind = kind;
    this.shortest = shortest;
    this.longest = longest;
    this.cumulated = cumulated(longest - shortest + 1, distribution);
  }

  /**
   * The fields that {@code text} lists, as {@code name:text:1-100 price:number:1-4}.
   *
   * @param distribution of the lengths: constant (always the longest), uniform, or zipfian (short
   *     ones more often)
   */
  static List<RecordField> parse(String text, String distribution) throws WorkloadException {
    List<RecordField> fields = new ArrayList<>();
    for (String each : text.trim().split("\\s+")) {
      Matcher match = FORM.matcher(each);
      if (!match.matches()) {
        throw new WorkloadException(
            RecordWorkload.FIELDS
                + ": '"
                + each
                + "': give each field as name:text:1-100 or name:number:1-4, sizes in bytes");
      }
      int shortest = Integer.parseInt(match.group(3));
      int longest = Integer.parseInt(match.group(4));
      if (shortest < 1 || shortest > longest) {
        throw new WorkloadException(
            RecordWorkload.FIELDS + ": '" + each + "': give at least 1 byte, the smaller first");
      }
      String name = match.group(1);
      if (fields.stream().anyMatch(other -> other.name.equals(name))) {
        throw new WorkloadException(
            RecordWorkload.FIELDS + ": '" + name + "' appears twice; give another name");
      }
      Kind kind = match.group(2).equals("text") ? Kind.TEXT : Kind.NUMBER;
      fields.add(new RecordField(name, kind, shortest, longest, distribution));
    }
    return fields;
  }

  private static double[] cumulated(int lengths, String distribution) throws WorkloadException {
    double[] shares = new double[lengths];
    switch (distribution) {
      case "constant" -> shares[lengths - 1] = 1;
      case "uniform" -> Arrays.fill(shares, 1);
      case "zipfian" -> Arrays.setAll(shares, i -> Math.pow(i + 1, -ZIPFIAN));
      default ->
          throw new WorkloadException(
              "fieldlengthdistribution=" + distribution + ": give constant, uniform or zipfian");
    }
    Arrays.parallelPrefix(shares, Double::sum);
    double all = shares[lengths - 1];
    Arrays.setAll(shares, i -> shares[i] / all);
    return shares;
  }

  /** A new value, which depends on nothing but {@code random}. */
  byte[] value(RandomGenerator random) {
    byte[] value = new byte[length(random)];
    for (int i = 0; i < value.length; i++) {
      value[i] =
          (byte)
              (kind == Kind.TEXT
                  ? random.nextInt(' ', '~' + 1)
                  : random.nextInt(i == 0 && value.length > 1 ? '1' : '0', '9' + 1));
    }
    return value;
  }

  private int length(RandomGenerator random) {
    // From (0, 1]: a length of share 0 is never drawn.
    int place = Arrays.binarySearch(cumulated, 1 - random.nextDouble());
    return shortest + (place < 0 ? -place - 1 : place);
  }
}

package kvstudy.db;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Collections;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;
import org.junit.jupiter.api.Test;

class ClassPathTest {
  /** A class path with wildcard has no order, so a second copy would be used at random. */
  @Test
  void oneHdrHistogram() throws IOException {
    assertEquals(
        1,
        Collections.list(
                getClass().getClassLoader().getResources("org/HdrHistogram/Histogram.class"))
            .size());
  }

  /** What hdrhistogram.fileoutput=true does; version 2.1.4 dies here for lack of javax.xml.bind. */
  @Test
  void histogramFilesCanBeWritten() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Histogram histogram = new Histogram(3);
    histogram.recordValue(42);
    new HistogramLogWriter(out).outputIntervalHistogram(histogram);
    assertTrue(out.toString(UTF_8).contains("HISTF"), out.toString(UTF_8));
  }
}

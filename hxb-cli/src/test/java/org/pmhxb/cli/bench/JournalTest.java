package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalTest {
  @TempDir private Path directory;
  private Path file;

  @BeforeEach
  void twoFindings() throws IOException {
    file = directory.resolve("new/suite.journal");
    Journal journal = Journal.open(file, "settings", false);
    journal.add("a", new Spread(1, 2, 3, 3));
    journal.add("b", new Spread(4, 5, 6, 3));
  }

  @Test
  void goesOnWithWhatWasFound() throws IOException {
    Journal journal = Journal.open(file, "settings", true);

    assertThat(journal.size()).isEqualTo(2);
    assertThat(journal.find("b", Spread.class)).contains(new Spread(4, 5, 6, 3));
    assertThat(journal.find("c", Spread.class)).isEmpty();
  }

  @Test
  void skipsTheLineThatAKilledProcessDidNotFinish() throws IOException {
    Files.writeString(file, "{\"key\":\"c\",\"val", StandardOpenOption.APPEND);

    assertThat(Journal.open(file, "settings", true).size()).isEqualTo(2);
  }

  @Test
  void beginsAnewWithOtherSettingsOrWhenToldTo() throws IOException {
    assertThat(Journal.open(file, "other", true).size()).isZero();
    assertThat(Journal.open(file, "settings", true).size()).isZero();
    twoFindings();
    assertThat(Journal.open(file, "settings", false).size()).isZero();
  }

  @Test
  void whatIsFoundBehindAnUnfinishedLineIsKept() throws IOException {
    Files.writeString(file, "{\"key\":\"c\",\"val", StandardOpenOption.APPEND);
    Journal.open(file, "settings", true).add("d", new Spread(7, 8, 9, 3));

    assertThat(Journal.open(file, "settings", true).find("d", Spread.class)).isPresent();
  }

  @Test
  void aLineThatEndsWithinALetterIsSkipped() throws IOException {
    Files.write(file, new byte[] {'{', '"', 'k', (byte) 0xc3}, StandardOpenOption.APPEND);

    assertThat(Journal.open(file, "settings", true).size()).isEqualTo(2);
  }
}

package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.pmhxb.router.HxbConfig;

/** What README.md shows is what the code takes. */
class ReadmeTest {
  private static final Path HOME = Path.of(System.getProperty("hxb.home"));

  @TempDir private Path folder;

  static String block(String language) throws IOException {
    String readme = Files.readString(HOME.resolve("README.md"));
    Matcher m = Pattern.compile("(?s)```" + language + "\n(.*?)```").matcher(readme);
    assertThat(m.find()).as("a block of " + language).isTrue();
    return m.group(1);
  }

  @Test
  void theProgramCompiles() throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    String text = block("java");
    JavaFileObject source =
        new SimpleJavaFileObject(URI.create("string:///Hello.java"), JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
          }
        };
    StringWriter said = new StringWriter();
    List<String> options =
        List.of("-d", folder.toString(), "-cp", System.getProperty("java.class.path"));
    assertThat(compiler.getTask(said, null, null, options, null, List.of(source)).call())
        .as(said.toString())
        .isTrue();
    assertThat(folder.resolve("Hello.class")).isNotEmptyFile();
  }

  @Test
  void theConfigurationIsRead() throws IOException {
    Path file = Files.writeString(folder.resolve("node.toml"), block("toml"));
    HxbConfig config = HxbConfig.read(file);
    assertThat(config.node()).isEqualTo(1);
    assertThat(config.rails()).singleElement().extracting(HxbConfig.Rail::device).isEqualTo("eth1");
  }

  /** Of README.md and COLLECTIVES.md: there is such a module, in that version. */
  @Test
  void theMavenCoordinatesAreModules() throws IOException {
    List<String> named = new ArrayList<>();
    for (String text : List.of("README.md", "docs/COLLECTIVES.md")) {
      Matcher m =
          Pattern.compile(
                  "<groupId>(.*?)</groupId><artifactId>(.*?)</artifactId><version>(.*?)</version>")
              .matcher(Files.readString(HOME.resolve(text)));
      while (m.find()) {
        named.add(String.join(":", m.group(1), m.group(2), m.group(3)));
      }
    }
    assertThat(named)
        .containsExactly(
            coordinates(HOME.resolve("hxb-router")), coordinates(HOME.resolve("pm-collectives")));
  }

  private static String coordinates(Path module) throws IOException {
    Matcher m =
        Pattern.compile(
                "(?s)<parent>.*?<groupId>(.*?)</groupId>.*?<version>(.*?)</version>.*?</parent>"
                    + ".*?<artifactId>(.*?)</artifactId>")
            .matcher(Files.readString(module.resolve("pom.xml")));
    assertThat(m.find()).as(module.toString()).isTrue();
    return String.join(":", m.group(1), m.group(3), m.group(2));
  }
}

package org.pmhxb.cli.bench;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The files that a suite writes into one directory. They are kept in the repository, so none says
 * where that lies on this machine: names are relative to the directory, and in what is written,
 * paths below the project's folder to that. In JSON it is the list of the names. Owner: one thread.
 */
public final class ResultFiles {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .defaultPropertyInclusion(
              JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS))
          .build();

  private final Path home;
  private final Path directory;
  private final List<String> names = new ArrayList<>();

  /**
   * @param home of the project
   * @param directory made when the first file is written
   */
  public ResultFiles(Path home, Path directory) {
    this.home = home.toAbsolutePath().normalize();
    this.directory = directory.toAbsolutePath().normalize();
  }

  /** A file or folder in the directory. */
  public Path path(String name) {
    return directory.resolve(name);
  }

  /** Notes files below the directory. */
  public void add(Collection<Path> files) {
    files.forEach(file -> names.add(directory.relativize(file.toAbsolutePath()).toString()));
  }

  /** Notes files that are about to be written, by their names. */
  public void add(String... files) {
    names.addAll(List.of(files));
  }

  /** Relative to the directory, in the order in which they were noted. */
  @JsonValue
  public List<String> names() {
    return List.copyOf(names);
  }

  /** Writes text, a page. */
  public void write(String name, String text) throws IOException {
    Files.createDirectories(directory);
    Files.writeString(path(name), withoutPlaces(text));
  }

  /** Writes a report as JSON: indented, without what is not known. */
  public void writeJson(String name, Object report) throws IOException {
    write(name, MAPPER.writeValueAsString(report) + "\n");
  }

  private String withoutPlaces(String text) {
    return without(home, without(directory, text));
  }

  private static String without(Path folder, String text) {
    if (folder.getNameCount() == 0) {
      return text; // the root: every path is below it
    }
    // Not the end of another path; options of compilers stand before one without a gap. What stands
    // before it is looked at behind it, not at each place of a long text.
    String quoted = Pattern.quote(folder.toString());
    String found = quoted + "(?<!/[\\w.-]{1,255}" + quoted + ")";
    return text.replaceAll(found + "/", "").replaceAll(found + "(?![\\w.-])", ".");
  }

  /** For a terminal: where each of them is. */
  public void print(PrintWriter out) {
    names.forEach(name -> out.println("wrote " + path(name)));
  }
}

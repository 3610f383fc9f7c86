package org.pmhxb.router;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.pmhxb.pm.FrameKey;

/**
 * Reads the frame key (PROTOCOL.md section 2.6): 32 hexadecimal digits, or 16 bytes as they are, in
 * a file that nobody but its owner may read.
 */
public final class FrameKeyFile {
  private static final int KEY_BYTES = 16;
  private static final int MAX_BYTES = 64;
  private static final Set<PosixFilePermission> ALLOWED =
      PosixFilePermissions.fromString("rw-------");

  /** How the problem of a file begins that is not there. */
  public static final String ABSENT = "no such file";

  /** The same of one that this user may not see. */
  public static final String DENIED = "permission denied";

  private FrameKeyFile() {}

  /**
   * @param firstStamp see {@link FrameKey}
   * @throws ConfigException naming the file: unreadable, open to others, or no key
   */
  public static FrameKey read(Path file, HxbConfig.Tag mode, long firstStamp) {
    byte[] bytes;
    try {
      PosixFileAttributes attributes = Files.readAttributes(file, PosixFileAttributes.class);
      if (!attributes.isRegularFile()) {
        throw refused(file, "is not a file");
      }
      Set<PosixFilePermission> permissions = attributes.permissions();
      if (!ALLOWED.containsAll(permissions)) {
        throw refused(
            file,
            "has the mode "
                + PosixFilePermissions.toString(permissions)
                + ", so others may read the key; run: chmod 600 "
                + file);
      }
      try (InputStream in = Files.newInputStream(file)) {
        bytes = in.readNBytes(MAX_BYTES + 1);
      }
    } catch (NoSuchFileException e) {
      throw refused(file, ABSENT + ": " + MEND);
    } catch (AccessDeniedException e) {
      throw refused(file, DENIED + ": it, or a folder on its way, is closed to this user");
    } catch (IOException e) {
      throw refused(file, "cannot be read: " + e);
    }
    ByteBuffer key = ByteBuffer.wrap(decoded(file, bytes)).order(ByteOrder.LITTLE_ENDIAN);
    try {
      return new FrameKey(
          FrameKey.Mode.valueOf(mode.name()), key.getLong(), key.getLong(), firstStamp);
    } catch (IllegalArgumentException e) {
      throw refused(file, e.getMessage() + ": " + MEND);
    }
  }

  private static final String MEND = "make one with: (umask 077; openssl rand -hex 16 > FILE)";

  private static byte[] decoded(Path file, byte[] bytes) {
    if (bytes.length == KEY_BYTES) {
      return bytes;
    }
    String text = new String(bytes, StandardCharsets.US_ASCII).strip();
    if (!text.matches("[0-9a-fA-F]{32}")) {
      throw refused(file, "has no key of 32 hexadecimal digits or 16 bytes; " + MEND);
    }
    return HexFormat.of().parseHex(text);
  }

  private static ConfigException refused(Path file, String problem) {
    return new ConfigException(List.of(new ConfigError(file.toString(), 0, "", "", problem)));
  }
}

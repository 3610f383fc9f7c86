package org.pmhxb.cli.veth;

import java.util.List;

/** A networking program failed: names the call, its code, what it said, and the mend. */
public final class ToolException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int code;
  private final String said;

  ToolException(List<String> command, int code, String said) {
    super(
        "\""
            + String.join(" ", command)
            + "\" failed (code "
            + code
            + "): "
            + (said.isEmpty() ? "it said nothing" : said)
            + mend(said));
    this.code = code;
    this.said = said;
  }

  /** The program's exit code; -1 when it could not be started or did not end. */
  public int code() {
    return code;
  }

  /** What the program wrote to standard error. */
  public String said() {
    return said;
  }

  /** Whether it was not allowed to do what it was asked for: whoever ran it is not root. */
  public boolean lacksRights() {
    return lacksRights(said);
  }

  private static boolean lacksRights(String said) {
    return said.contains("not permitted") || said.contains("Permission denied");
  }

  private static String mend(String said) {
    if (said.contains("Cannot run program")
        || said.contains("failed to execute")
        || said.contains("No such file or directory (os")) {
      return "; install it: apt-get install iproute2";
    }
    if (said.startsWith("no room")) {
      return "; make some";
    }
    if (lacksRights(said)) {
      return System.getProperty("user.name").equals("root")
          ? "; root itself lacks the right: a container needs CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN"
          : "; network namespaces need root: run hxb with sudo";
    }
    if (said.contains("File exists")) {
      return "; something of that name is there already: hxb down --cluster NAME removes what is left of one";
    }
    if (said.contains("qdisc kind is unknown") || said.contains("qdisc not found")) {
      return "; the kernel lacks the tbf queue: modprobe sch_tbf";
    }
    if (said.contains("Unknown device type") || said.contains("Operation not supported")) {
      return "; the kernel lacks a module: modprobe -a veth bridge";
    }
    return "; ip -V shows its version, 5.10 or newer is known to work";
  }
}

package org.pmhxb.cli;

import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Integration tests start nodes and ranks from the jar, as users do, which the build names; the
 * class path of the tests would do as well but takes no archive of classes.
 */
public final class FromTheJar implements LauncherSessionListener {
  @Override
  public void launcherSessionOpened(LauncherSession session) {
    String jar = System.getProperty("hxb.test.jar");
    if (jar != null) {
      System.setProperty("java.class.path", jar);
    }
  }
}

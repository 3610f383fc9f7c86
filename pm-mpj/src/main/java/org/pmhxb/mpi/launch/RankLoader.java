package org.pmhxb.mpi.launch;

import java.net.URL;
import java.net.URLClassLoader;

/**
 * The classes of one rank among several in a JVM. MPJ keeps its state in static fields, one set per
 * JVM; so each rank loads MPJ, the device and the program for itself, and shares all else: the
 * engine, the protocol and DPDK, of which a process has only one.
 */
final class RankLoader extends URLClassLoader {
  private static final String SHARED = "org.pmhxb.";
  private static final String OWN = "org.pmhxb.mpi.device.";

  static {
    registerAsParallelCapable();
  }

  RankLoader(int rank, URL[] path, ClassLoader parent) {
    super("rank-" + rank, path, parent);
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    boolean parentFirst =
        name.startsWith("java.") || name.startsWith(SHARED) && !name.startsWith(OWN);
    if (parentFirst) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> known = findLoadedClass(name);
      if (known == null) {
        try {
          known = findClass(name);
        } catch (ClassNotFoundException e) {
          return super.loadClass(name, resolve);
        }
      }
      if (resolve) {
        resolveClass(known);
      }
      return known;
    }
  }
}

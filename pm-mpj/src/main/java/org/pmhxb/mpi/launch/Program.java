package org.pmhxb.mpi.launch;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * A program that calls MPJ, as a rank runs it.
 *
 * @param mainClass with {@code public static void main(String[])}
 */
public record Program(String mainClass, String[] args) {
  /** The device's name in MPJ: the class that {@code xdev.mxdev.MXDevice} replaces. */
  private static final String DEVICE = "mxdev";

  private static final String MPJ_HOME = "MPJ_HOME";

  /**
   * Runs the program on this thread until its main method returns.
   *
   * @param loader the rank's own
   * @throws Throwable what the program threw
   */
  @SuppressWarnings("checkstyle:IllegalThrows")
  public void run(ClassLoader loader, int rank) throws Throwable {
    presetDevice(loader);
    run(loader, rank, "-", DEVICE);
  }

  /** The same over a device of MPJ's. */
  void run(ClassLoader loader, int rank, String configuration, String device) throws Throwable {
    Thread.currentThread().setContextClassLoader(loader);
    MethodHandle entry = entry(Class.forName(mainClass, true, loader));
    // MPI.Init takes the first three away again.
    String[] all = new String[args.length + 3];
    all[0] = Integer.toString(rank);
    all[1] = configuration;
    all[2] = device;
    System.arraycopy(args, 0, all, 3, args.length);
    entry.invokeExact(all);
  }

  /**
   * What a rank calls; looking it up runs nothing of the class.
   *
   * @throws NoSuchMethodException it has none
   * @throws IllegalAccessException the class or its method is not public
   */
  public static MethodHandle entry(Class<?> main)
      throws NoSuchMethodException, IllegalAccessException {
    return MethodHandles.publicLookup()
        .findStatic(main, "main", MethodType.methodType(void.class, String[].class));
  }

  /**
   * Also where the class path has MPJ's own {@code MXDevice} first, the first initialization gets
   * our device.
   */
  private static void presetDevice(ClassLoader loader) throws ReflectiveOperationException {
    Object device =
        Class.forName("xdev.mxdev.MXDevice", true, loader).getDeclaredConstructor().newInstance();
    Class<?> deviceType = Class.forName("org.pmhxb.mpi.device.HxbDevice", false, loader);
    if (!deviceType.isInstance(device)) {
      throw new IllegalStateException(
          "MPJ's own xdev.mxdev.MXDevice is ahead of pm-mpj's on the class path of the rank");
    }
    Class.forName("mpjdev.javampjdev.MPJDev", true, loader).getField("dev").set(null, device);
  }

  /** The environment variable that MPJ reads its configuration by. */
  public static String homeVariable() {
    return MPJ_HOME;
  }
}

package mpiprograms;

/** Never calls MPI. */
public final class Silent {
  private Silent() {}

  public static void main(String[] argv) {}
}

package org.pmhxb.cli;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Dependencies run one way only (ARCHITECTURE.md, modules). */
@AnalyzeClasses(packages = "org.pmhxb", importOptions = ImportOption.DoNotIncludeTests.class)
class ModuleDependencyTest {
  @ArchTest
  static final ArchRule modulesDependDownwards =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("ffi")
          .definedBy("org.pmhxb.ffi..")
          .layer("bufpool")
          .definedBy("org.pmhxb.bufpool..")
          .layer("pm")
          .definedBy("org.pmhxb.pm..")
          .layer("router")
          .definedBy("org.pmhxb.router..")
          .layer("mpi")
          .definedBy("org.pmhxb.mpi..")
          .layer("sim")
          .definedBy("org.pmhxb.sim..")
          .layer("collectives")
          .definedBy("org.pmhxb.collectives..")
          .layer("cost")
          .definedBy("org.pmhxb.cost..")
          .layer("cli")
          .definedBy("org.pmhxb.cli..")
          .whereLayer("cli")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("mpi")
          .mayOnlyBeAccessedByLayers("cli")
          .whereLayer("sim")
          .mayOnlyBeAccessedByLayers("cli")
          .whereLayer("collectives")
          .mayOnlyBeAccessedByLayers("cli")
          .whereLayer("cost")
          .mayOnlyBeAccessedByLayers("cli")
          .whereLayer("router")
          .mayOnlyBeAccessedByLayers("mpi", "sim", "collectives", "cost", "cli")
          .whereLayer("pm")
          .mayOnlyBeAccessedByLayers("router", "mpi", "sim", "collectives", "cost", "cli")
          .whereLayer("bufpool")
          .mayOnlyBeAccessedByLayers("pm", "router", "mpi", "sim", "collectives", "cost", "cli");

  /** Plans, what they cost, how they run, what is measured: each may use those before it. */
  @ArchTest
  static final ArchRule collectivesHaveNoCycles =
      slices().matching("org.pmhxb.collectives.(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule collectivesDoNotKnowTheirAlgorithmsNorBarriers =
      noClasses()
          .that()
          .resideInAPackage("org.pmhxb.collectives")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("org.pmhxb.collectives.*..")
          .because("algorithms are registered by the program, and barriers are a thing apart");

  @ArchTest
  static final ArchRule protocolReadsNoClock =
      noClasses()
          .that()
          .resideInAnyPackage(
              "org.pmhxb.pm", "org.pmhxb.pm.flow", "org.pmhxb.pm.wire", "org.pmhxb.collectives..")
          .and()
          .doNotHaveSimpleName("PollThread")
          .should()
          .callMethod(System.class, "nanoTime")
          .orShould()
          .callMethod(System.class, "currentTimeMillis")
          .because("time is passed in, so that the simulator runs the very same classes");

  @ArchTest
  static final ArchRule chronicleStaysAtTheEdge =
      noClasses()
          .that()
          .resideInAPackage("org.pmhxb..")
          .and()
          .doNotHaveSimpleName("BytesView")
          .and()
          .doNotHaveSimpleName("SendBuffer")
          .and()
          .doNotHaveSimpleName("Message")
          .and()
          .doNotHaveSimpleName("Loan")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("net.openhft..")
          .because("Chronicle Bytes rests on sun.misc.Unsafe: it is for the program above only");
}

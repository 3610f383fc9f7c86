package org.pmhxb.collectives;

/** The memory that a plan's steps work on. */
public enum Area {
  /** What the rank brings; never written, but where input and output are one. */
  INPUT,
  /** What the rank gets. */
  OUTPUT,
  /** Memory of the communicator, for what is on its way; see {@link PlanBuilder#scratch}. */
  SCRATCH
}

package xdev.mxdev;

import org.pmhxb.mpi.device.HxbDevice;

/**
 * The device that MPJ Express calls {@code mxdev}. MPJ makes its devices by fixed class names; this
 * one was Myrinet's, which is gone, so a class of this name ahead of MPJ's on the class path makes
 * the hyper-crossbar a device of MPJ without a change to MPJ.
 */
public final class MXDevice extends HxbDevice {}

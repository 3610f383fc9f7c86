package org.pmhxb.mpi.device;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import mpi.MPIException;
import mpjbuf.Buffer;
import mpjbuf.NIOBuffer;
import mpjdev.Request;
import mpjdev.Status;
import org.pmhxb.mpi.engine.Arrival;
import org.pmhxb.mpi.engine.Barrier;
import org.pmhxb.mpi.engine.Departure;
import org.pmhxb.mpi.engine.Engine;
import org.pmhxb.mpi.engine.Operation;
import org.pmhxb.mpi.engine.OperationException;
import org.pmhxb.mpi.engine.Payload;
import org.pmhxb.mpi.engine.ProbeOperation;
import org.pmhxb.mpi.engine.ReceiveOperation;
import org.pmhxb.mpi.engine.SendOperation;
import org.pmhxb.mpi.launch.RankContext;
import xdev.Device;
import xdev.ProcessID;

/**
 * MPJ Express's device over the hyper-crossbar. Any thread of the rank may call it, several at a
 * time.
 *
 * <p>Everything that goes wrong is an {@link MPIException}: a tag below 0, a message that is longer
 * than its receive buffer or than 2 GiB, the end of a peer.
 */
public class HxbDevice implements Device {
  private final CompletedRequests completed = new CompletedRequests();
  private final Map<UUID, Integer> ranks = new HashMap<>();
  private RankContext context;
  private Engine engine;
  private ProcessID[] ids;
  private ProcessID self;

  /** Of an MPI.Init whose time was up; null: none. */
  private Barrier starting;

  protected HxbDevice() {}

  /**
   * @param args rank, configuration, device name, as MPJ's launchers pass them; only the rank is
   *     looked at: the rest is the {@link RankContext} of this class's loader
   */
  @Override
  public ProcessID[] init(String[] args) {
    context = RankContext.of(getClass().getClassLoader());
    engine = context.engine();
    context.finished().set(false);
    if (!args[0].equals(Integer.toString(engine.rank()))) {
      throw new MPIException(
          "MPI.Init was told rank " + args[0] + ", but this process is rank " + engine.rank());
    }
    ids = new ProcessID[engine.size()];
    ranks.clear();
    for (int rank = 0; rank < ids.length; rank++) {
      ids[rank] = new ProcessID(new UUID(context.jobNumber(), rank));
      ranks.put(ids[rank].uuid(), rank);
    }
    self = ids[engine.rank()];
    start(context.startLimitNs());
    engine.started();
    return ids;
  }

  /** When the time is up, the next MPI.Init waits on for what this one has begun. */
  private void start(long limitNs) {
    starting = starting == null ? new Barrier(engine) : starting;
    try {
      for (Operation op; (op = starting.awaited()) != null; ) {
        if (!isOver(op, limitNs)) {
          throw new MPIException(
              "rank "
                  + starting.awaitedRank()
                  + " did not answer for "
                  + limitNs / 1_000_000_000L
                  + " s; does it run, and has it called the same of MPI.Init and MPI.Finalize?");
        }
      }
    } catch (OperationException e) {
      throw new MPIException(e.getMessage());
    }
    starting = null;
  }

  /** Waits for an operation of which another judges how it ended; false: the time is up. */
  private static boolean isOver(Operation op, long limitNs) {
    try {
      return op.await(limitNs);
    } catch (OperationException e) {
      return true;
    }
  }

  @Override
  public int getSendOverhead() {
    return 0;
  }

  @Override
  public int getRecvOverhead() {
    return 0;
  }

  @Override
  public ProcessID id() {
    return self;
  }

  /** Waits until all that was sent is stored at its destination and nobody needs this rank. */
  @Override
  public void finish() {
    Departure departure = new Departure(engine);
    try {
      for (Operation op; (op = departure.awaited()) != null; ) {
        isOver(op, Long.MAX_VALUE);
      }
    } catch (OperationException e) {
      throw new MPIException(e.getMessage());
    }
    completed.clear();
    context.finished().set(true);
  }

  // --- sending ------------------------------------------------------------------------------

  @Override
  public Request isend(Buffer buf, ProcessID dst, int tag, int context) {
    return request(sendOperation(buf, dst, tag, context, false));
  }

  @Override
  public void send(Buffer buf, ProcessID dst, int tag, int context) {
    post(sendOperation(buf, dst, tag, context, false));
  }

  @Override
  public Request issend(Buffer buf, ProcessID dst, int tag, int context) {
    return request(sendOperation(buf, dst, tag, context, true));
  }

  @Override
  public void ssend(Buffer buf, ProcessID dst, int tag, int context) {
    post(sendOperation(buf, dst, tag, context, true));
  }

  private Request request(SendOperation op) {
    SendRequest request = new SendRequest(completed, op);
    engine.post(op);
    return request;
  }

  private void post(SendOperation op) {
    engine.post(op);
    waitFor(op);
  }

  static void waitFor(Operation op) {
    try {
      op.await();
    } catch (OperationException e) {
      throw new MPIException(e.getMessage());
    }
  }

  private SendOperation sendOperation(
      Buffer buf, ProcessID dst, int tag, int context, boolean synchronous) {
    if (tag < 0) {
      throw new MPIException("tag " + tag + " is out of range: 0.." + Integer.MAX_VALUE);
    }
    byte[] dynamic = buf.getDynamicBuffer();
    long bytes = (long) buf.getSize() + (dynamic == null ? 0 : dynamic.length);
    if (buf.getSize() < 0 || bytes > Integer.MAX_VALUE) {
      throw new MPIException(
          "message of " + bytes + " bytes (packed): the limit is " + Integer.MAX_VALUE);
    }
    Payload payload =
        new Payload(
            memory(buf),
            buf.offset(),
            buf.getSize(),
            dynamic == null ? MemorySegment.NULL : MemorySegment.ofArray(dynamic));
    boolean section = buf.getSize() >= Buffer.SECTION_OVERHEAD;
    int type = section ? buf.getStaticBuffer().getByte(buf.offset()) : 0;
    int elements = section ? buf.getStaticBuffer().getInt(buf.offset() + 4, false) : 0;
    return new SendOperation(payload, rankOf(dst), context, tag, type, elements, synchronous);
  }

  /** The whole of a buffer's first part: its position and limit are MPJ's own affair. */
  private static MemorySegment memory(Buffer buf) {
    if (!(buf.getStaticBuffer() instanceof NIOBuffer raw)) {
      throw new MPIException(
          "buffers of " + buf.getStaticBuffer().getClass() + " cannot be sent or received");
    }
    return MemorySegment.ofBuffer(raw.getBuffer().duplicate().clear());
  }

  private int rankOf(ProcessID id) {
    Integer rank = ranks.get(id.uuid());
    if (rank == null) {
      throw new MPIException("process " + id.uuid() + " is no rank of this job");
    }
    return rank;
  }

  // --- receiving ----------------------------------------------------------------------------

  @Override
  public Status recv(Buffer buf, ProcessID src, int tag, int context) {
    ReceiveOperation op = receiveOperation(buf, src, tag, context, false);
    engine.post(op);
    waitFor(op);
    return received(buf, op, new Status());
  }

  @Override
  public Request irecv(Buffer buf, ProcessID src, int tag, int context, Status status) {
    ReceiveOperation op = receiveOperation(buf, src, tag, context, false);
    ReceiveRequest request = new ReceiveRequest(this, completed, op, buf, status);
    engine.post(op);
    return request;
  }

  private ReceiveOperation receiveOperation(
      Buffer buf, ProcessID src, int tag, int context, boolean immediate) {
    MemorySegment memory = memory(buf);
    int whole = (int) Math.min(memory.byteSize(), Integer.MAX_VALUE);
    // A buffer that was made without MPJ's factory does not tell its capacity.
    int end = buf.getCapacity() > 0 ? Math.min(buf.getCapacity(), whole) : whole;
    return new ReceiveOperation(
        memory, buf.offset(), end - buf.offset(), sourceOf(src), checkTag(tag), context, immediate);
  }

  private int sourceOf(ProcessID src) {
    return src.uuid().equals(ANY_SRC.uuid()) ? Engine.ANY_SOURCE : rankOf(src);
  }

  private static int checkTag(int tag) {
    if (tag < 0 && tag != ANY_TAG) {
      throw new MPIException(
          "tag " + tag + " is out of range: 0.." + Integer.MAX_VALUE + ", or MPI.ANY_TAG (-2)");
    }
    return tag;
  }

  /**
   * Hands over what came: lengths and objects to the buffer, the rest to the status. The bytes need
   * no encoding: MPJ's buffers are big-endian everywhere, whatever they say.
   */
  Status received(Buffer buf, ReceiveOperation op, Status status) {
    Arrival arrival = op.arrival();
    buf.setSize(arrival.staticBytes());
    buf.setDynamicBuffer(op.dynamic());
    return fill(status, arrival);
  }

  private Status fill(Status status, Arrival arrival) {
    status.srcID = ids[arrival.source()].uuid();
    status.tag = arrival.tag();
    status.type = mpjbuf.Type.getType(arrival.type());
    status.numEls = arrival.elements();
    return status;
  }

  // --- probing ------------------------------------------------------------------------------

  @Override
  public Status probe(ProcessID src, int tag, int context) {
    return probe(src, tag, context, true);
  }

  @Override
  public Status iprobe(ProcessID src, int tag, int context) {
    return probe(src, tag, context, false);
  }

  /** One process is one rank here, so {@code dst} can only be this one. */
  @Override
  public Status iprobe(ProcessID src, ProcessID dst, int tag, int context) {
    return probe(src, tag, context, false);
  }

  private Status probe(ProcessID src, int tag, int context, boolean waits) {
    ProbeOperation op = new ProbeOperation(sourceOf(src), checkTag(tag), context, waits);
    engine.post(op);
    waitFor(op);
    return op.arrival() == null ? null : fill(new Status(), op.arrival());
  }

  /** Receives what is there, or answers null at once. */
  @Override
  public Status iprobeAndFetch(ProcessID src, ProcessID dst, int tag, int context, Buffer buf) {
    ReceiveOperation op = receiveOperation(buf, src, tag, context, true);
    engine.post(op);
    waitFor(op);
    return op.arrival() == null ? null : received(buf, op, new Status());
  }

  /** Blocks until some request has completed that nobody has waited for, and answers that. */
  @Override
  public Request peek() {
    return completed.take(engine);
  }
}

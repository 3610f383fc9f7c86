package org.pmhxb.mpi.launch;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/**
 * Tells the ranks of MPJ's own TCP device, {@code niodev}, where the others listen, as MPJ's
 * launcher does: each connects, says its ports and rank, and all get the list. For comparisons with
 * the stock device on the same machine.
 */
final class NioDirectory implements AutoCloseable {
  private static final long POLL_MS = 20;

  private final ServerSocket server;
  private final int ranks;

  NioDirectory(String address, int port, int ranks) throws IOException {
    this.server = new ServerSocket(port, ranks, InetAddress.getByName(address));
    this.ranks = ranks;
    Thread.ofPlatform().daemon(true).name("nio-directory").start(this::serve);
  }

  /**
   * Waits until the directory listens: MPJ asks once, and the process that has it may begin later
   * than others.
   */
  static void await(String address, int port, long limitNs)
      throws IOException, InterruptedException {
    long startNs = System.nanoTime();
    while (true) {
      try {
        new Socket(address, port).close();
        return;
      } catch (ConnectException e) {
        if (System.nanoTime() - startNs > limitNs) {
          throw e;
        }
        Thread.sleep(POLL_MS);
      }
    }
  }

  /** One list for each time that all ranks initialize MPI. */
  private void serve() {
    try {
      while (true) {
        answer();
      }
    } catch (IOException e) {
      if (!server.isClosed()) {
        e.printStackTrace();
      }
    }
  }

  private void answer() throws IOException {
    List<Socket> sockets = new ArrayList<>();
    String[] peers = new String[ranks];
    while (sockets.size() < ranks) {
      Socket socket = server.accept();
      DataInputStream in = new DataInputStream(socket.getInputStream());
      try {
        in.readUTF();
      } catch (EOFException e) {
        socket.close(); // It only wanted to know: await.
        continue;
      }
      sockets.add(socket);
      int writePort = in.readInt();
      int readPort = in.readInt();
      int rank = in.readInt();
      peers[rank] =
          socket.getInetAddress().getHostAddress() + "@" + readPort + "@" + writePort + "@" + rank;
    }
    for (Socket socket : sockets) {
      new DataOutputStream(socket.getOutputStream())
          .writeUTF("#Peer Information;" + String.join(";", peers));
      socket.close();
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}

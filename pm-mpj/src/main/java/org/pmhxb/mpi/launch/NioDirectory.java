package org.pmhxb.mpi.launch;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
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
  private final ServerSocket server;
  private final int ranks;

  NioDirectory(String address, int port, int ranks) throws IOException {
    this.server = new ServerSocket(port, ranks, InetAddress.getByName(address));
    this.ranks = ranks;
    Thread.ofPlatform().daemon(true).name("nio-directory").start(this::serve);
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
      sockets.add(socket);
      DataInputStream in = new DataInputStream(socket.getInputStream());
      in.readUTF();
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

package org.pmhxb.mpi.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class NioDirectoryTest {
  private static final String HERE = "127.0.0.1";

  private static int freePort() throws IOException {
    try (ServerSocket probe = new ServerSocket(0)) {
      return probe.getLocalPort();
    }
  }

  /** As MPJ's device does in MPI.Init. */
  private static String list(int port, int rank) throws IOException {
    try (Socket socket = new Socket(HERE, port)) {
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      out.writeUTF("Sending Info");
      out.writeInt(11);
      out.writeInt(22);
      out.writeInt(rank);
      return new DataInputStream(socket.getInputStream()).readUTF();
    }
  }

  private static CompletableFuture<String> rank(int port, int rank) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            NioDirectory.await(HERE, port, 10_000_000_000L);
            return list(port, rank);
          } catch (IOException | InterruptedException e) {
            throw new CompletionException(e);
          }
        },
        Thread::startVirtualThread);
  }

  @Test
  void ranksThatAreEarlierThanTheDirectoryWaitForIt() throws Exception {
    int port = freePort();
    CompletableFuture<String> one = rank(port, 1);
    Thread.sleep(50);
    try (NioDirectory directory = new NioDirectory(HERE, port, 2)) {
      CompletableFuture<String> zero = rank(port, 0);
      assertThat(one.get(10, TimeUnit.SECONDS))
          .isEqualTo(zero.get(10, TimeUnit.SECONDS))
          .isEqualTo("#Peer Information;127.0.0.1@22@11@0;127.0.0.1@22@11@1");
    }
  }

  @Test
  void aDirectoryThatNeverComesIsNotWaitedForForEver() throws IOException {
    int port = freePort();
    assertThatThrownBy(() -> NioDirectory.await(HERE, port, 0))
        .isInstanceOf(ConnectException.class);
  }
}

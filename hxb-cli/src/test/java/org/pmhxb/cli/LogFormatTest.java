package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** A node's log is read on another day and beside another host's. */
class LogFormatTest {
  @Test
  void linesBeginWithDateAndTimeInUtc() throws Exception {
    LoggerContext context = new LoggerContext();
    JoranConfigurator configurator = new JoranConfigurator();
    configurator.setContext(context);
    configurator.doConfigure(Main.class.getResource("/logback.xml"));
    Logger log = context.getLogger("org.pmhxb.cli.node.NodeRunner");
    LoggingEvent event = new LoggingEvent("", log, Level.WARN, "node 1 runs", null, null);
    event.setInstant(Instant.parse("2026-03-29T01:30:00.005Z"));
    ConsoleAppender<ILoggingEvent> appender =
        (ConsoleAppender<ILoggingEvent>)
            context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME).getAppender("STDERR");
    assertThat(new String(appender.getEncoder().encode(event), StandardCharsets.UTF_8))
        .isEqualTo(
            "2026-03-29T01:30:00.005Z WARN  NodeRunner: node 1 runs" + System.lineSeparator());
    context.stop();
  }
}

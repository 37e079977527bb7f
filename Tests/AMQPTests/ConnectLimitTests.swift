import AMQP
import EventLoop
import TestKit
import Testing

/// The timeouts of opening the stream and of the login.
@Suite struct ConnectLimitTests {
    @Test func connectingDoesNotShortenTheTimeoutOfTheLogin() {
        AMQPHarness.play { harness in
            try harness.broker.start()
            // Connecting takes 2.4 s. The login takes 14.4 s, because it needs three round trips.
            harness.loop.network.latencyMicroseconds = 2_400_000...2_400_000
            let connection = harness.makeConnection()
            await harness.pass(.seconds(17))
            #expect(connection.status == .ready)
        }
    }

    @Test func openingTheStreamHasATimeout() {
        AMQPHarness.play { harness in
            harness.loop.network.latencyMicroseconds = 9_000_000...9_000_000
            let log = AMQPHarness.EventLog()
            _ = harness.makeConnection { state in
                if case .waiting(let error, _) = state { log.texts.append(error.message) }
            }
            await harness.pass(.milliseconds(8100))
            #expect(log.texts == ["cannot connect to broker:5672: no connection within 8 s"])
        }
    }

    @Test func theURLSetsTheTimeoutOfConnecting() throws {
        #expect(try AMQPURL("amqp://broker?connection_timeout=2500").connectOptions.connectSecondsMax == 3)
        #expect(try AMQPURL("amqp://broker?connection_timeout=0").connectOptions == ConnectOptions())
        #expect(try AMQPURL("amqp://broker").connectOptions == ConnectOptions())
    }
}

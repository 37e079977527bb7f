import AMQP
import EventLoop
import TestKit
import Testing

/// Opening the stream and logging in have a time limit each.
@Suite struct ConnectLimitTests {
    @Test func connectingLeavesTheWholeTimeForTheLogin() {
        Scene.play { scene in
            try scene.broker.start()
            // 2.4 s to connect and 14.4 s to log in, which takes three questions and answers.
            scene.loop.network.latencyMicroseconds = 2_400_000...2_400_000
            let connection = scene.makeConnection()
            await scene.pass(.seconds(17))
            #expect(connection.status == .ready)
        }
    }

    @Test func aStreamThatDoesNotOpenIsGivenUp() {
        Scene.play { scene in
            scene.loop.network.latencyMicroseconds = 9_000_000...9_000_000
            let notes = Scene.Notes()
            _ = scene.makeConnection { state in
                if case .waiting(let error, _) = state { notes.texts.append(error.message) }
            }
            await scene.pass(.milliseconds(8100))
            #expect(notes.texts == ["cannot connect to broker:5672: no connection within 8 s"])
        }
    }

    @Test func theURLSaysTheTimeToConnect() throws {
        #expect(try AMQPURL("amqp://broker?connection_timeout=2500").connectOptions.connectSecondsMax == 3)
        #expect(try AMQPURL("amqp://broker?connection_timeout=0").connectOptions == ConnectOptions())
        #expect(try AMQPURL("amqp://broker").connectOptions == ConnectOptions())
    }
}

import Glibc
import TestKit
import Testing

extension SystemTests {
    @Suite struct Signals {
        @Test func hangingUpDoesNotEndTheWorker() async throws {
            let stage = try await Stage("hangup")
            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            let worker = try await stage.worker()
            worker.send(signal: SIGHUP)
            try await worker.said("the configuration says what it said")
            let samples = Sample.make(10)
            try await stage.publish(samples)
            try await stage.told(of: samples).expectAcceptedAtOnce(samples)
            _ = try await worker.stop()
            try await stage.end()
        }
    }
}

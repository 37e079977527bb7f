import Glibc
import TestKit
import Testing

extension ChangingWorkerTests {
    @Suite struct Signals {
        @Test func aHangupDoesNotStopTheWorker() async throws {
            let fixture = try await SystemFixture("hangup")
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            worker.send(signal: SIGHUP)
            try await worker.waitForLog("configuration unchanged")
            let samples = Sample.make(10)
            try await fixture.publish(samples)
            try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
            _ = try await worker.stop()
            try await fixture.end()
        }

        @Test func systemdReceivesNotifications() async throws {
            let fixture = try await SystemFixture("notify")
            try await fixture.applyTopology()
            let path = fixture.directory.file("notify")
            let manager = try DatagramReceiver(path)
            let worker = try await fixture.worker(["NOTIFY_SOCKET=\(path)", "WATCHDOG_USEC=400000"])
            var heard: [String] = []
            let expected = ["STATUS=consuming requests", "WATCHDOG=1"]
            while !expected.allSatisfy({ word in heard.contains { $0.contains(word) } }) {
                heard += manager.all()
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(heard.first == "READY=1")
            _ = try await worker.stop()
            #expect((heard + manager.all()).contains("STOPPING=1"))
            try await fixture.end()
        }
    }
}

import Telemetry
import TestKit
import Testing

@testable import Operations

struct ServiceManagerTests {
    @Test(arguments: [false, true])
    func itHearsWhatChangesAndThatTheWorkerLives(_ isAbstract: Bool) throws {
        let directory = try TemporaryDirectory()
        let path = isAbstract ? "@\(directory.path)/notify" : directory.file("notify")
        let receiver = try DatagramReceiver(path)
        let manager = manager(["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "600000", "WATCHDOG_PID": "7"])
        #expect(manager.interval == .milliseconds(300))
        manager.started()
        manager.hears("the broker\nis away", isAlive: true)
        manager.hears("the broker\nis away", isAlive: true)
        manager.hears("the broker\nis away", isAlive: false)
        manager.hears("takes messages", isAlive: false)
        manager.stopping()
        #expect(
            receiver.all() == [
                "READY=1", "STATUS=the broker is away\nWATCHDOG=1", "WATCHDOG=1", "STATUS=takes messages", "STOPPING=1",
            ])
    }

    @Test func anotherProcessWatchdogIsNotOurs() throws {
        let directory = try TemporaryDirectory()
        let receiver = try DatagramReceiver(directory.file("notify"))
        let manager = manager([
            "NOTIFY_SOCKET": directory.file("notify"), "WATCHDOG_USEC": "600000", "WATCHDOG_PID": "8",
        ])
        #expect(manager.interval == .seconds(1))
        manager.hears("takes messages", isAlive: true)
        #expect(receiver.all() == ["STATUS=takes messages"])
    }

    @Test func withoutSystemdNothingIsSaid() {
        #expect(manager([:]).interval == nil)
        #expect(manager(["WATCHDOG_USEC": "600000"]).interval == nil)
    }

    @Test(arguments: ["/nowhere/notify", String(repeating: "a", count: 200)])
    func aSocketThatIsNotThereIsToldOnce(_ path: String) throws {
        let captured = try CapturedLog(level: .info)
        let manager = ServiceManager({ ["NOTIFY_SOCKET": path][$0] }, processID: 7, log: captured.log)
        manager.started()
        manager.stopping()
        #expect(captured.lines().count { $0.contains("service_manager.unreachable") } == 1)
    }

    private func manager(_ environment: [String: String]) -> ServiceManager {
        ServiceManager({ environment[$0] }, processID: 7, log: .silent)
    }
}

import Telemetry
import TestKit
import Testing

@testable import Worker

struct SystemdNotifierTests {
    @Test(arguments: [false, true])
    func systemdReceivesChangesAndWatchdogPings(_ isAbstract: Bool) throws {
        let directory = try TemporaryDirectory()
        let path = isAbstract ? "@\(directory.path)/notify" : directory.file("notify")
        let receiver = try DatagramReceiver(path)
        let notifier = notifier(["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "600000", "WATCHDOG_PID": "7"])
        #expect(notifier.interval == .milliseconds(300))
        notifier.started()
        notifier.report("the broker\nis away", isAlive: true)
        notifier.report("the broker\nis away", isAlive: true)
        notifier.report("the broker\nis away", isAlive: false)
        notifier.report("consuming requests", isAlive: false)
        notifier.stopping()
        #expect(
            receiver.all() == [
                "READY=1", "STATUS=the broker is away\nWATCHDOG=1", "WATCHDOG=1", "STATUS=consuming requests",
                "STOPPING=1",
            ])
    }

    @Test func anotherProcessesWatchdogIsIgnored() throws {
        let directory = try TemporaryDirectory()
        let receiver = try DatagramReceiver(directory.file("notify"))
        let notifier = notifier([
            "NOTIFY_SOCKET": directory.file("notify"), "WATCHDOG_USEC": "600000", "WATCHDOG_PID": "8",
        ])
        #expect(notifier.interval == .seconds(1))
        notifier.report("consuming requests", isAlive: true)
        #expect(receiver.all() == ["STATUS=consuming requests"])
    }

    @Test func withoutSystemdNothingIsSent() {
        #expect(notifier([:]).interval == nil)
        #expect(notifier(["WATCHDOG_USEC": "600000"]).interval == nil)
    }

    @Test(arguments: ["/nowhere/notify", String(repeating: "a", count: 200)])
    func aMissingSocketIsLoggedOnce(_ path: String) throws {
        let captured = try CapturedLog(level: .info)
        let notifier = SystemdNotifier({ ["NOTIFY_SOCKET": path][$0] }, processID: 7, log: captured.log)
        notifier.started()
        notifier.stopping()
        #expect(captured.lines().count { $0.contains("service_manager.unreachable") } == 1)
    }

    private func notifier(_ environment: [String: String]) -> SystemdNotifier {
        SystemdNotifier({ environment[$0] }, processID: 7, log: .silent)
    }
}

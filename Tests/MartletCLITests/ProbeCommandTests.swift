import Actions
import CommandKit
import ControlProtocol
import Crypto
import Delivery
import EventLoop
import Testing

@testable import MartletCLI

/// The command `martlet probe`, and the action that it shares with the console.
@Suite struct ProbeCommandTests {
    private func parse(_ line: String...) throws -> ProbeCommand { try Program.martlet.command(["probe"] + line) }

    @Test(arguments: [
        ProbeScope.part(.everything), .part(.key("ABC123DEFG")), .part(.certificate("it's one")),
        .part(.topic("com.example.shop")), .endpoint("api.push.apple.com:2197"), .store,
    ])
    func theShownCommandDoesTheSame(scope: ProbeScope) throws {
        for why in ["repaired", "--it's \"repaired\" $HOME"] {
            let probe = FleetProbe(scope, why: why)
            var words = Self.words(of: probe.commandLine)
            #expect(words.removeFirst() == "martlet")
            #expect(try Program.martlet.command(words, as: ProbeCommand.self).probe == probe, "\(probe.commandLine)")
        }
    }

    /// Splits a command line as a shell does: into words, of which parts are in single quotes.
    private static func words(of line: String) -> [String] {
        var (words, word, isQuoted, isEscaped) = ([String](), "", false, false)
        for character in line {
            switch character {
            case _ where isEscaped:
                word.append(character)
                isEscaped = false
            case "\\" where !isQuoted: isEscaped = true
            case "'": isQuoted.toggle()
            case " " where !isQuoted:
                words.append(word)
                word = ""
            default: word.append(character)
            }
        }
        return words + [word]
    }

    @Test(arguments: [
        ([], "option --why TEXT is missing"),
        (["--why", "x"], "probe requires --all, --key, --certificate, --topic, --endpoint or --store"),
        (["--why", "x", "--all", "--key", "K"], "options --all and --key are mutually exclusive"),
        (["--why", "x", "--key", "K", "--topic", "t"], "options --key and --topic are mutually exclusive"),
        (["--why", "a\nb", "--all"], "--why requires a text of 1 to 500 bytes without control characters"),
    ])
    func aWrongCommandLineIsRefused(words: [String], message: String) {
        let error = #expect(throws: UsageError.self) {
            try Program.martlet.command(["probe"] + words, as: ProbeCommand.self)
        }
        #expect(error?.message == message)
    }

    @Test func thePlanHasTheOpenBreakersOfReportingWorkers() throws {
        func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }
        func report(_ worker: String, boot: UInt64, _ breakers: [WorkerStatus.OpenBreaker]) -> [UInt8] {
            var status = WorkerStatus(worker: worker)
            status.breakers = breakers
            return FleetReport(
                status, bootID: UUIDValue(high: 1, low: boot), sequence: 1, sentAt: 1_764_300_000_000
            ).json
        }
        let key = WorkerStatus.OpenBreaker(route: "h key K", code: "InvalidProviderToken", apps: ["com.example.shop"])
        let other = WorkerStatus.OpenBreaker(route: "h key L", code: "ExpiredProviderToken")
        var view = FleetView()
        _ = view.receive(report("silent", boot: 1, [key]), at: time(0))
        _ = view.receive(report("held", boot: 2, [key, other]), at: time(30))
        _ = view.receive(report("free", boot: 3, []), at: time(40))
        let probe = FleetProbe(.part(.key("K")), why: "repaired")
        let plan = probe.plan(view, at: time(40))
        #expect(plan.workers == ["held", "free"] && plan.breakers == ["held": [key]] && plan.breakerCount == 1)
    }
}

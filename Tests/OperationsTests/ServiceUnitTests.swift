import Delivery
import TestKit
import Testing

@testable import Operations

/// What `deploy/systemd` says is right, and lets a worker do little.
@Suite struct ServiceUnitTests {
    /// As `systemd-analyze security` has it, in tenths: 0 is nothing to be had, 100 all.
    private static let exposureMax = 15

    private let directory: TemporaryDirectory
    private let unit: [String]
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        unit = try Files.lines(of: Products.file("deploy/systemd/martlet.service"))
        let martlet = try Products.executable("martlet")
        let here = unit.map { $0.replacingOccurrence(of: "=/usr/bin/martlet ", with: "=\(martlet) ") }
        path = try directory.write("martlet.service", here.joined(separator: "\n") + "\n")
    }

    @Test func systemdFindsNothingWrong() async throws {
        let result = try await ChildProcess.run(["systemd-analyze", "verify", "--man=no", path])
        #expect(result.exit.status == .exited(0))
        #expect(result.output + result.errors == [])
    }

    @Test func aWorkerMayDoLittle() async throws {
        let result = try await ChildProcess.run([
            "systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold=\(Self.exposureMax)", path,
        ])
        #expect(result.exit.status == .exited(0), "\(result.output.suffix(2)) \(result.errors)")
        #expect(result.output.contains { $0.contains("Overall exposure level for martlet.service") })
    }

    /// systemd kills what takes longer, and the broker delivers again what was held.
    @Test func aDrainMayTakeItsTime() throws {
        let seconds = try #require(number("TimeoutStopSec"))
        #expect(seconds > Configuration.Limits().drainDeadlineSeconds + WorkerProcess.closeGraceSeconds)
    }

    @Test func onlyWhatMayPassIsTriedAgain() throws {
        #expect(number("RestartPreventExitStatus") == Int(ExitCode.usage.rawValue))
        #expect(try #require(number("WatchdogSec")) > StallDetector.turnSecondsMax)
    }

    private func number(_ key: String) -> Int? {
        unit.first { $0.hasPrefix(key + "=") }.flatMap { Int($0.dropFirst(key.count + 1)) }
    }
}

extension String {
    fileprivate func replacingOccurrence(of text: String, with other: String) -> String {
        split(separator: text, omittingEmptySubsequences: false).joined(separator: other)
    }
}

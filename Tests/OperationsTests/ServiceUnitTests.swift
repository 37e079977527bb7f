import Delivery
import TestKit
import Testing

@testable import Operations

/// What `deploy/systemd` says is right, and lets a service do little.
@Suite struct ServiceUnitTests {
    /// As `systemd-analyze security` has it, in tenths: 0 is nothing to be had, 100 all.
    private static let exposureMax = 15
    private static let folder = "deploy/systemd"
    /// With what each starts.
    private static let units = [
        "apns-simulator.service": "apns-simulator", "martlet.service": "martlet", "martlet@.service": "martlet",
    ]

    private let directory: TemporaryDirectory
    /// The lines of the worker's.
    private let worker: [String]

    init() throws {
        directory = try TemporaryDirectory()
        worker = try Files.lines(of: Products.file("\(Self.folder)/martlet.service"))
    }

    @Test func everyUnitIsChecked() throws {
        #expect(try Files.names(in: Products.file(Self.folder)) == Self.units.keys.sorted())
    }

    @Test(arguments: units.keys.sorted()) func systemdFindsNothingWrong(_ unit: String) async throws {
        let result = try await ChildProcess.run(["systemd-analyze", "verify", "--man=no", try write(unit)])
        #expect(result.exit.status == .exited(0))
        // It exits with 0 on a key that it does not know.
        #expect(result.output + result.errors == [])
    }

    @Test(arguments: units.keys.sorted()) func aServiceMayDoLittle(_ unit: String) async throws {
        let result = try await ChildProcess.run([
            "systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold=\(Self.exposureMax)",
            try write(unit),
        ])
        #expect(result.exit.status == .exited(0), "\(result.output.suffix(2)) \(result.errors)")
        #expect(result.output.contains { $0.contains("Overall exposure level for ") })
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
        worker.first { $0.hasPrefix(key + "=") }.flatMap { Int($0.dropFirst(key.count + 1)) }
    }

    /// The unit with the command where it is here; its path.
    private func write(_ unit: String) throws -> String {
        let command = try #require(Self.units[unit])
        let here = "=\(try Products.executable(command)) "
        let lines = try Files.lines(of: Products.file("\(Self.folder)/\(unit)")).map { line in
            line.replacing("=/usr/bin/\(command) ", with: here)
        }
        return try directory.write(unit, lines.joined(separator: "\n") + "\n")
    }
}

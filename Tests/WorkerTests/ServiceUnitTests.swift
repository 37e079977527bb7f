import CommandKit
import Delivery
import Glibc
import TestKit
import Testing

@testable import Configuration
@testable import Worker

/// The validity and the sandbox of the packages' systemd units.
@Suite struct ServiceUnitTests {
    /// The maximum exposure level that `systemd-analyze security` may report, in tenths, from 0 to 100.
    private static let exposureMax = 15
    private static let services = [
        "apns-simulator.service", "martlet-console.service", "martlet-credentials.service", "martlet.service",
        "martlet@.service",
    ]
    private static let units = (services + ["martlet-credentials.path"]).sorted()

    /// The folder in which `deploy/lib/install-units` creates the layout of the packages.
    private let directory: TemporaryDirectory
    private var folder: String { directory.file("usr/lib/systemd/system") }

    init() async throws {
        directory = try TemporaryDirectory("units")
        for package in ["apns-simulator", "martlet"] {
            let result = try await ChildProcess.run([
                Products.file("deploy/lib/install-units"), package, directory.path,
            ])
            #expect(result.exit.status == .exited(0) && result.errors == [], "\(result)")
        }
    }

    @Test func everyUnitIsTested() throws {
        #expect(try Files.names(in: folder) == Self.units)
    }

    // systemd does not treat a link to a service as a template, and reports this only when an instance starts.
    @Test(arguments: units) func everyUnitIsARegularFile(_ unit: String) async throws {
        let result = try await ChildProcess.run(["stat", "--format=%F", "\(folder)/\(unit)"])
        #expect(result.output == ["regular file"])
    }

    @Test(arguments: units) func systemdVerifiesTheUnit(_ unit: String) async throws {
        let result = try await analyze(["verify", "--man=no"], try instance(of: unit))
        #expect(result.exit.status == .exited(0))
        // `systemd-analyze` exits with 0 for an unknown key, so its output must be empty too.
        #expect(result.output + result.errors == [])
    }

    @Test(arguments: services) func serviceIsSandboxed(_ unit: String) async throws {
        let result = try await analyze(
            ["security", "--no-pager", "--offline=true", "--threshold=\(Self.exposureMax)"],
            try instance(of: unit))
        #expect(result.exit.status == .exited(0), "\(result.output.suffix(2)) \(result.errors)")
        #expect(result.output.contains { $0.contains("Overall exposure level for ") })
    }

    /// The example for keys that only systemd can read is a valid drop-in.
    @Test(arguments: ["martlet.service", "martlet@.service"])
    func credentialsAreADropIn(_ unit: String) async throws {
        let example = directory.file("usr/share/doc/martlet/examples/credentials.conf")
        let installed = try await ChildProcess.run([
            "install", "-D", "-m", "644", "-t", "\(folder)/\(unit).d", example,
        ])
        #expect(installed.exit.status == .exited(0))
        let result = try await analyze(["verify", "--man=no"], try instance(of: unit))
        #expect(result.exit.status == .exited(0) && result.output + result.errors == [])
        let credential = try #require(try value("LoadCredential", in: example))
        let watched = try #require(try value("PathChanged", in: "\(folder)/martlet-credentials.path"))
        #expect(credential.split(separator: ":").last?.hasPrefix(watched + "/") == true)
    }

    @Test(arguments: ["martlet.service", "martlet@.service", "martlet-console.service", "apns-simulator.service"])
    func noServiceDumpsItsMemory(_ unit: String) throws {
        #expect(try value("LimitCORE", in: "\(folder)/\(unit)") == "0")
    }

    // systemd kills a worker after the stop timeout. The broker then redelivers the worker's unacknowledged requests.
    @Test func stopTimeoutExceedsTheDrainDeadline() throws {
        let seconds = try #require(try number("TimeoutStopSec"))
        #expect(seconds > WorkerConfiguration.Limits().drainDeadlineSeconds + RolloutLimits.closeGraceSeconds)
    }

    @Test func onlyTemporaryFailuresRestart() throws {
        #expect(try number("RestartPreventExitStatus") == Int(ExitCode.usage.rawValue))
        #expect(try #require(try number("WatchdogSec")) > StallDetector.iterationSecondsMax)
    }

    // MARK: The lock of restart-workers

    // Any user can open the script and hold a lock on it.
    @Test func noOtherUserCanDelayRestarts() async throws {
        let script = try await restartWorkers()
        let result = try await ChildProcess.run(
            ["flock", "--shared", "--no-fork", script, "timeout", "20", script], within: .seconds(30))
        #expect(result.exit.status == .exited(0), "\(result)")
        let mode = try await ChildProcess.run(["stat", "--format=%a %F", directory.file("lock")])
        #expect(mode.output == ["700 directory"])
        let service = "\(folder)/martlet-credentials.service"
        let name = try #require(try value("RuntimeDirectory", in: service))
        #expect(try value("lock", in: directory.file("usr/libexec/martlet/restart-workers")) == "/run/\(name)")
        #expect(try value("RuntimeDirectoryMode", in: service) == "0700")
        #expect(try value("RuntimeDirectoryPreserve", in: service) == "yes")
    }

    @Test func aRestartThatHangsEndsTheWaitOfTheNext() async throws {
        let script = try await restartWorkers()
        let lock = directory.file("lock")
        try #require(mkdir(lock, 0o700) == 0)
        let result = try await ChildProcess.run(["flock", lock, "timeout", "20", script], within: .seconds(30))
        #expect(result.exit.status == .exited(1), "\(result)")
        #expect(
            result.errors == [
                "waiting up to 1 s for another restart-workers to finish",
                "cannot restart workers: another restart-workers has held \(lock) for 1 s; no worker was restarted. Find the "
                    + "other: lslocks --output PID,COMMAND,PATH | grep \(lock). Once it has ended run: "
                    + "/usr/libexec/martlet/restart-workers",
            ])
    }

    /// Returns the script with its lock below the folder, a short timeout, and a `systemctl` without units.
    private func restartWorkers() async throws -> String {
        let systemctl = try await directory.writeProgram("systemctl", "#!/bin/sh\nexit 0\n")
        let text = try Files.lines(of: directory.file("usr/libexec/martlet/restart-workers")).joined(separator: "\n")
            .replacing(/\nlock=.*/, with: "\nlock=\(directory.file("lock"))")
            .replacing(/\nlock_seconds_max=.*/, with: "\nlock_seconds_max=1")
            .replacing("systemctl ", with: "\(systemctl) ")
        return try await directory.writeProgram("restart-workers", text + "\n")
    }

    private func number(_ key: String) throws -> Int? {
        try value(key, in: "\(folder)/martlet.service").flatMap { Int($0) }
    }

    private func value(_ key: String, in path: String) throws -> String? {
        try Files.lines(of: path).first { $0.hasPrefix(key + "=") }.map { String($0.dropFirst(key.count + 1)) }
    }

    /// Makes all services run the commands of this build. Returns the name of the unit, or of a template's instance.
    private func instance(of unit: String) throws -> String {
        for name in try Files.names(in: folder) where name.hasSuffix(".service") {
            let lines = try Files.lines(of: "\(folder)/\(name)").map { line in
                guard let command = line.prefixMatch(of: #/ExecStart=([^ ]+)/#)?.output.1 else { return line }
                let here =
                    command.hasPrefix("/usr/bin/")
                    ? try Products.executable(String(command.dropFirst("/usr/bin/".count)))
                    : directory.path + command
                return line.replacing(command, with: here, maxReplacements: 1)
            }
            try directory.write("usr/lib/systemd/system/\(name)", lines.joined(separator: "\n") + "\n")
        }
        return unit.replacing("@.", with: "@1.")
    }

    /// Runs systemd-analyze, which finds units in the packages' folder first.
    private func analyze(
        _ arguments: [String], _ unit: String
    ) async throws -> (exit: ChildExit, output: [String], errors: [String]) {
        try await ChildProcess.run(
            ["env", "SYSTEMD_UNIT_PATH=\(folder):", "systemd-analyze"] + arguments + [unit])
    }
}

import Glibc
import Testing

@testable import CommandKit

@Suite struct ProgramTests {
    @Test(arguments: [("launch --map m a", 0), ("launch --map m a b", 1), ("launch", 2)])
    func aCommandEndsWithItsExitCode(_ line: String, _ code: Int32) {
        #expect(Program.fleet.run(line.split(separator: " ").map(String.init)).rawValue == code)
    }

    @Test func aMistakeIsOneLineOfStandardError() async {
        let result = await #expect(processExitsWith: .exitCode(64), observing: [\.standardErrorContent]) {
            exit(Program.seaLamp.run(["--mode", "\u{1B}[2J"]).rawValue)
        }
        let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            errors == "sea-lamp: option --mode: expected steady or flashing, got '\u{FFFD}[2J' (see sea-lamp --help)\n")
    }

    @Test func aCommandReadsItsArguments() throws {
        guard case .command(let command) = try Program.fleet.request(["launch", "--map", "m", "--crew", "5", "a"])
        else {
            throw UsageError("unexpected text")
        }
        let launch = try #require(command as? LaunchCommand)
        #expect(launch.boats == ["a"] && launch.crew == 5)
    }

    @Test func versionIsALine() throws {
        guard case .text(let text) = try Program.seaLamp.request(["--version"]) else {
            throw UsageError("unexpected command")
        }
        #expect(text == "sea-lamp 4.5\n")
    }
}

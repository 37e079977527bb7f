import TestKit
import Testing

@Suite struct InstructionCountTests {
    private let accepted: InstructionCount

    init() throws {
        accepted = try InstructionCount(lines: ["# measured long ago", "60000 libnghttp2", "30000 JSON", "10000 AMQP"])
    }

    @Test func linesRoundTrip() throws {
        #expect(accepted.lines == ["60000 libnghttp2", "30000 JSON", "10000 AMQP"])
        #expect(try InstructionCount(lines: accepted.lines) == accepted)
        let specialized = try InstructionCount(lines: ["7 Swift, specialized"])
        #expect(specialized.byModule == ["Swift, specialized": 7])
    }

    @Test(arguments: ["many JSON", "12", "JSON 12", "-"])
    func aMalformedLineIsRejected(line: String) {
        #expect(throws: ProcessError.self) { try InstructionCount(lines: [line]) }
    }

    @Test func anIncreaseOfOnePercentIsAllowed() throws {
        let most = try InstructionCount(lines: ["60000 libnghttp2", "31000 JSON", "10000 AMQP"])
        #expect(most.limitViolation(accepted: accepted) == nil)
        #expect(try InstructionCount(lines: ["1 JSON"]).limitViolation(accepted: accepted) == nil)
    }

    @Test func theErrorNamesTheModuleWithTheLargestIncrease() throws {
        let more = try InstructionCount(lines: ["50000 libnghttp2", "31000 JSON", "20001 Delivery"])
        #expect(
            more.limitViolation(accepted: accepted)
                == """
                101001 instructions per request exceed the limit of 101000 (100000 accepted plus 1 %); largest increase: \
                Delivery, from 0 to 20001
                """)
    }

    @Test func aProfileIsDividedByItsMessages() throws {
        let lines = ["ob=(1) /usr/lib/libc.so.6", "fn=(1) malloc", "1 299", "totals: 299"]
        let profile = try CallgrindProfile(lines: lines, program: "/tmp/bench")
        #expect(InstructionCount(profile, messages: 100).byModule == ["libc": 3])
    }
}

import TestKit
import Testing

@Suite struct CallgrindProfileTests {
    private static let file = """
        # callgrind format
        version: 1
        cmd:  /tmp/bench instructions --counted
        positions: line
        events: Ir
        summary: 160

        ob=(1) /usr/lib/x86_64-linux-gnu/libc.so.6
        fl=(1) malloc.c
        fn=(1) malloc
        10 20
        12 5
        cob=(2) /tmp/bench
        cfi=(2) Lane.swift
        cfn=(2) $s8Delivery4LaneC5startyyF
        calls=3 40
        13 900
        14 5

        ob=(2)
        fl=(2)
        fn=(2)
        41 100
        fi=(3) inlined.swift
        7 20
        cfn=(1)
        calls=1 10
        8 30

        fn=(3) main
        1 10

        totals: 160
        """

    @Test func instructionsAreCountedOnceAndByModule() throws {
        let profile = try CallgrindProfile(lines: Self.lines(Self.file), program: "/tmp/bench")
        #expect(profile.total == 160)
        #expect(profile.byModule == ["libc": 30, "Delivery": 120, "other": 10])
    }

    @Test func aTruncatedFileIsRejected() {
        let cut = Self.lines(Self.file).filter { $0 != "41 100" }
        #expect(throws: ProcessError.self) {
            try CallgrindProfile(lines: cut, program: "/tmp/bench")
        }
        #expect(throws: ProcessError.self) { try CallgrindProfile(lines: [], program: "/tmp/bench") }
    }

    @Test(arguments: [
        ("$s8Delivery4LaneC5startyyF", "Delivery"),
        // A method in Delivery's extension of a type of Hashing.
        ("$s7Hashing11SecretMixerV8DeliveryE7copyKey2id4bodyAD04CopyF0V6Crypto9UUIDValueV_Says5UInt8VGtF", "Delivery"),
        ("$s4JSON9JSONValueV6member33_0652071F8562AFB291C2F1A962D0EABBLLyACSgSPys5UInt8VG_SitF", "JSON"),
        ("$s7HTTP2sd", "HTTP2sd"),
        ("$sSa6append10contentsOfyqd__n_t7ElementQyd__RszSTRd__lFs5UInt8V_SWTg5", "Swift, specialized"),
        ("$ss10ArraySliceV4AMQPE5bytesSiyF", "AMQP"),
        ("$sSS8DeliveryE4tailSiyF", "Delivery"),
        ("$s", "other"), ("$s4JS", "JS"), ("$s999999999999999999999x", "other"), ("main", "other"),
    ])
    func aFunctionBelongsToTheModuleOfItsSource(symbol: String, module: String) throws {
        let lines = ["ob=(1) /tmp/bench", "fn=(1) \(symbol)", "1 7", "totals: 7"]
        #expect(try CallgrindProfile(lines: lines, program: "/tmp/bench").byModule == [module: 7])
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { String($0) }
    }
}

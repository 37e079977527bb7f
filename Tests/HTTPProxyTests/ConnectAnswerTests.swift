import Testing

@testable import HTTPProxy

@Suite struct ConnectAnswerTests {
    @Test(
        arguments: [
            ("HTTP/1.1 200 Connection established\r\n\r\n", .open(rest: [])),
            ("HTTP/1.0 200 \r\nVia: x\r\nContent-Length: 3\r\n\r\nabc", .open(rest: Array("abc".utf8))),
            ("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 204 \r\n\r\n", .open(rest: [])),
            (
                "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 9\r\n\r\nforbidden",
                .refused(status: 407, logins: [])
            ),
            (
                "HTTP/1.1 407 \r\nProxy-Authenticate: Negotiate\r\nproxy-authenticate:NTLM realm\r\n\r\n",
                .refused(status: 407, logins: ["Negotiate", "NTLM"])
            ),
            (
                "HTTP/1.1 407 \r\nProxy-Authenticate: Negotiate, Basic realm=\"a, NTLM\\\", b\", charset = \"UTF-8\","
                    + " SCRAM-SHA-256,,Digest qop=\"auth,auth-int\"\r\n\r\n",
                .refused(status: 407, logins: ["Negotiate", "Basic", "SCRAM-SHA-256", "Digest"])
            ),
            ("HTTP/1.1 301 \r\n\r\n", .refused(status: 301, logins: [])), ("HTTP/1.1 200 OK\r\n", .incomplete),
            ("HTTP/1.1 200 OK\n\n", .incomplete), ("HTTP/2 200\r\n\r\n", .malformed), ("\r\n\r\n", .malformed),
            ("HTTP/1.1 2x0 OK\r\n\r\n", .malformed), ("HTTP/1.1 20\r\n\r\n", .malformed),
            ("SSH-2.0-OpenSSH\r\n\r\n", .malformed),
        ] as [(String, ConnectAnswer.Progress)])
    func parsesAnAnswerInPartsOfAnySize(_ text: String, _ expected: ConnectAnswer.Progress) {
        for pieceBytes in [1, 7, text.utf8.count] {
            var answer = ConnectAnswer()
            var rest = Array(text.utf8)[...]
            var progress = ConnectAnswer.Progress.incomplete
            while !rest.isEmpty, progress == .incomplete {
                progress = answer.add(rest.prefix(pieceBytes))
                rest = rest.dropFirst(pieceBytes)
            }
            if case .open(let behind) = progress { progress = .open(rest: behind + rest) }
            #expect(progress == expected, "an answer in parts of \(pieceBytes) bytes was parsed wrongly")
        }
    }

    @Test func `Interim answers have a limit`() {
        let interim = Array(repeating: Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), count: 1000)
        let final = Array("HTTP/1.1 200 OK\r\n\r\n".utf8)
        for (count, expected) in [
            (ConnectAnswer.interimHeadsMax, .open(rest: [])), (ConnectAnswer.interimHeadsMax + 1, .malformed),
            (1000, .malformed),
        ] as [(Int, ConnectAnswer.Progress)] {
            var answer = ConnectAnswer()
            #expect(answer.add(interim.prefix(count).joined() + final) == expected)
            var pieces = ConnectAnswer()
            let progress = interim.prefix(count).map { pieces.add($0) }
            #expect(progress.prefix(ConnectAnswer.interimHeadsMax).allSatisfy { $0 == .incomplete })
            #expect(progress.dropFirst(ConnectAnswer.interimHeadsMax).allSatisfy { $0 == .malformed })
        }
    }

    // A search that starts at the first byte each time takes quadratic time.
    @Test(.timeLimit(.minutes(1))) func `A head that arrives byte by byte is searched once`() {
        var answer = ConnectAnswer()
        let text = "HTTP/1.1 200 OK\r\nx-padding: \(String(repeating: "x", count: 16_000))\r\n\r\n"
        let progress = text.utf8.map { answer.add(CollectionOfOne($0)) }
        #expect(progress.dropLast().allSatisfy { $0 == .incomplete } && progress.last == .open(rest: []))
    }

    @Test func aHeadWithoutAnEndIsMalformed() {
        var answer = ConnectAnswer()
        let line = Array("x-padding: \(String(repeating: "x", count: 1011))\r\n".utf8)
        let heads = [answer.add(Array("HTTP/1.1 200 OK\r\n".utf8))] + (0..<16).map { _ in answer.add(line) }
        #expect(heads.dropLast() == Array(repeating: .incomplete, count: 16)[...] && heads.last == .malformed)
    }
}

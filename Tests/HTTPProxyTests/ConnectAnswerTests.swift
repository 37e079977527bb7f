import Testing

@testable import HTTPProxy

@Suite struct ConnectAnswerTests {
    @Test(
        arguments: [
            ("HTTP/1.1 200 Connection established\r\n\r\n", .open(rest: [])),
            ("HTTP/1.0 200 \r\nVia: x\r\nContent-Length: 3\r\n\r\nabc", .open(rest: Array("abc".utf8))),
            ("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 204 \r\n\r\n", .open(rest: [])),
            ("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 9\r\n\r\nforbidden", .refused(407)),
            ("HTTP/1.1 301 \r\n\r\n", .refused(301)), ("HTTP/1.1 200 OK\r\n", .incomplete),
            ("HTTP/1.1 200 OK\n\n", .incomplete), ("HTTP/2 200\r\n\r\n", .malformed), ("\r\n\r\n", .malformed),
            ("HTTP/1.1 2x0 OK\r\n\r\n", .malformed), ("HTTP/1.1 20\r\n\r\n", .malformed),
            ("SSH-2.0-OpenSSH\r\n\r\n", .malformed),
        ] as [(String, ConnectAnswer.Progress)])
    func anAnswerIsReadInPiecesOfAnySize(_ text: String, _ expected: ConnectAnswer.Progress) {
        for pieceBytes in [1, 7, text.utf8.count] {
            var answer = ConnectAnswer()
            var rest = Array(text.utf8)[...]
            var progress = ConnectAnswer.Progress.incomplete
            while !rest.isEmpty, progress == .incomplete {
                progress = answer.add(rest.prefix(pieceBytes))
                rest = rest.dropFirst(pieceBytes)
            }
            if case .open(let behind) = progress { progress = .open(rest: behind + rest) }
            #expect(progress == expected, "in pieces of \(pieceBytes)")
        }
    }

    @Test func aHeadWithoutAnEndIsGivenUp() {
        var answer = ConnectAnswer()
        let line = Array("x-padding: \(String(repeating: "x", count: 1011))\r\n".utf8)
        let heads = [answer.add(Array("HTTP/1.1 200 OK\r\n".utf8))] + (0..<16).map { _ in answer.add(line) }
        #expect(heads.dropLast() == Array(repeating: .incomplete, count: 16)[...] && heads.last == .malformed)
    }
}

import Glibc

/// Standard output or standard error, written without a buffer. Lines are lost if the reader has closed the stream.
enum StandardStream: Int32 {
    case output = 1
    case error = 2

    func line(_ text: String) {
        var rest = Array("\(text)\n".utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(rawValue, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return }
        }
    }
}

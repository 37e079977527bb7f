import CLinux

/// The processors that this process may use, within the limits of its container.
enum Processors {
    static var count: Int {
        let allowed = max(1, Int(martlet_allowed_processors()))
        let quota = (try? FileReader.bytes(of: "/sys/fs/cgroup/cpu.max", bytesMax: 4096)).flatMap { quotient($0) }
        return min(allowed, quota ?? allowed)
    }

    /// Returns the number of whole processors, at least 1, in `cpu.max` of a control group; nil without a valid limit
    /// (https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files). Returns 1 for `150000 100000`, one and
    /// a half processors.
    static func quotient(_ text: [UInt8]) -> Int? {
        let words = String(decoding: text, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        guard words.count == 2, let quota = Int(words[0]), let period = Int(words[1]), quota > 0, period > 0 else {
            return nil
        }
        return max(1, quota / period)
    }
}

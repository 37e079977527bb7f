import ControlProtocol
import Crypto
import JSON

/// The encoding of a sample, as in a line of the journal.
enum SampleContent {
    static func bytes(of sample: JournalSample) -> [UInt8] {
        var json = JSONWriter(capacity: sample.body.count * 2)
        JournalLine.dead(sample).write(to: &json)
        return json.bytes
    }

    static func sample(in bytes: [UInt8]) -> JournalSample? {
        let limits = JSONLimits(bytesMax: 4 * JournalLimits.lineBytesMax, depthMax: 8)
        guard let root = try? JSONDocument(bytes, limits: limits).root, case .dead(let sample)? = JournalLine(root)
        else { return nil }
        return sample
    }
}

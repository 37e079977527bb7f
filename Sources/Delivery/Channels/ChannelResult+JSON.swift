public import APNS
import Crypto
public import JSON

extension ChannelResult {
    /// Writes the members that describe the result. In a reply, they follow the members of the command
    /// (`schemas/channel-reply.schema.json`).
    public func write(to json: inout JSONWriter, of request: ChannelRequest) {
        json.member("outcome", outcome.rawValue)
        if let status { json.member("status", status) }
        if let reason { json.member("reason", reason) }
        if let channel = channelID ?? request.channelID { json.member("channel_id", channel) }
        if let storagePolicy { json.member("storage_policy", storagePolicy.word) }
        for (name, channels) in [("channels" as StaticString, channels), ("made_since", madeSince)] {
            guard let channels else { continue }
            json.key(name)
            json.beginArray()
            for channel in channels { json.string(channel) }
            json.endArray()
        }
        if let sentence { json.member("message", sentence) }
    }
}

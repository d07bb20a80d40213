package kvstudy.db;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.function.Consumer;
import org.bson.BsonReader;
import org.bson.BsonType;
import org.bson.BsonWriter;
import org.bson.codecs.Codec;
import org.bson.codecs.DecoderContext;
import org.bson.codecs.EncoderContext;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;

/** What a MongoDB server answers to a command, as YCSB has it. */
final class MongoDbReply {
  final List<HashMap<String, ByteIterator>> records = new ArrayList<>(1);

  /** How many documents a write inserted, matched or deleted. */
  int count;

  /** Not 0 while there are more records than in this answer. */
  long cursor;

  /** Why a write failed, or null; the driver throws all other errors. */
  String error;

  /** Reads the answer from the driver's buffer, without a map of BSON values between. */
  static final class Reader implements Codec<MongoDbReply> {
    @Override
    public MongoDbReply decode(BsonReader reader, DecoderContext context) {
      MongoDbReply reply = new MongoDbReply();
      each(reader, name -> take(reader, name, reply));
      return reply;
    }

    private static void take(BsonReader reader, String name, MongoDbReply reply) {
      switch (name) {
        case "cursor":
          each(reader, part -> take(reader, part, reply));
          break;
        case "firstBatch":
          reader.readStartArray();
          while (reader.readBsonType() != BsonType.END_OF_DOCUMENT) {
            reply.records.add(record(reader));
          }
          reader.readEndArray();
          break;
        case "id":
          reply.cursor = reader.readInt64();
          break;
        case "n":
          reply.count = reader.readInt32();
          break;
        case "writeErrors":
          reader.readStartArray();
          while (reader.readBsonType() != BsonType.END_OF_DOCUMENT) {
            each(reader, part -> take(reader, part, reply));
          }
          reader.readEndArray();
          break;
        case "writeConcernError":
          each(reader, part -> take(reader, part, reply));
          break;
        case "errmsg":
          reply.error = reader.readString();
          break;
        default:
          reader.skipValue();
      }
    }

    private static HashMap<String, ByteIterator> record(BsonReader reader) {
      HashMap<String, ByteIterator> record = new HashMap<>();
      each(
          reader,
          name -> {
            if (reader.getCurrentBsonType() == BsonType.BINARY) {
              record.put(name, new ByteArrayByteIterator(reader.readBinaryData().getData()));
            } else {
              reader.skipValue();
            }
          });
      return record;
    }

    /** Calls {@code value} with the name of each part of the document, to read its value. */
    private static void each(BsonReader reader, Consumer<String> value) {
      reader.readStartDocument();
      while (reader.readBsonType() != BsonType.END_OF_DOCUMENT) {
        value.accept(reader.readName());
      }
      reader.readEndDocument();
    }

    @Override
    public void encode(BsonWriter writer, MongoDbReply reply, EncoderContext context) {
      throw new UnsupportedOperationException("an answer is only read");
    }

    @Override
    public Class<MongoDbReply> getEncoderClass() {
      return MongoDbReply.class;
    }
  }
}
